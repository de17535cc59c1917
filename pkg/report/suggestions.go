package report

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/suggestion"
)

// Suggestions are dependencies that add-ons use and do not declare.
type Suggestions struct {
	metav1.TypeMeta `json:",inline"`
	Items           []suggestion.Suggestion `json:"items"`
}

// SuggestionsFor are those for an add-on, or with an empty name for all.
func SuggestionsFor(addOn string, all []suggestion.Suggestion) *Suggestions {
	found := slices.DeleteFunc(all, func(one suggestion.Suggestion) bool { return addOn != "" && addOn != one.AddOn })
	return &Suggestions{TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "DependencySuggestions"}, Items: found}
}
