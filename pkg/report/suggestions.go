package report

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/plan/suggestion"
)

// Suggestions are dependencies that add-ons use and do not declare, and versions that they could report.
type Suggestions struct {
	metav1.TypeMeta `json:",inline"`
	Items           []suggestion.Suggestion `json:"items"`
	// Versions are versions that add-ons could report. No version of these add-ons is known on some managed clusters.
	Versions []suggestion.Version `json:"versions"`
}

// SuggestionsFor returns the suggested dependencies for an add-on. With an empty name, it returns all.
func SuggestionsFor(addOn string, suggestions []suggestion.Suggestion) *Suggestions {
	items := slices.DeleteFunc(suggestions, func(item suggestion.Suggestion) bool { return addOn != "" && addOn != item.AddOn })
	return &Suggestions{
		TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "DependencySuggestions"}, Items: items, Versions: []suggestion.Version{},
	}
}
