package report

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/suggestion"
)

// Suggestions are dependencies that add-ons use and do not declare, and versions that they could report.
type Suggestions struct {
	metav1.TypeMeta `json:",inline"`
	Items           []suggestion.Suggestion `json:"items"`
	// Versions are those of add-ons of which no version is known on some managed clusters.
	Versions []suggestion.Version `json:"versions"`
}

// SuggestionsFor are the dependencies for an add-on, or with an empty name for all.
func SuggestionsFor(addOn string, all []suggestion.Suggestion) *Suggestions {
	found := slices.DeleteFunc(all, func(one suggestion.Suggestion) bool { return addOn != "" && addOn != one.AddOn })
	return &Suggestions{TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "DependencySuggestions"}, Items: found, Versions: []suggestion.Version{}}
}
