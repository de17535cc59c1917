package apidiscovery

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
)

// Groups returns the groups of requests, for Watch, with the fields to look up in each.
func Groups(requests []dependencyv1alpha1.APIRequest) map[string]Fields {
	groups := map[string]Fields{}
	for _, api := range requests {
		if groups[api.Group] == nil {
			groups[api.Group] = Fields{}
		}
		if len(api.Fields) > 0 {
			groups[api.Group][Kind{Version: api.Version, Kind: api.Kind}] = api.Fields
		}
	}
	return groups
}

// Fact returns the fact about an API of the group. The bool is false if the fact is not known yet.
func (g Group) Fact(request dependencyv1alpha1.APIRequest) (dependencyv1alpha1.APIFact, bool) {
	api := request.API
	fact := dependencyv1alpha1.APIFact{API: api}
	fact.Versions = g.Kinds[api.Kind]
	if len(fact.Versions) > dependencyv1alpha1.MaxVersions {
		fact.Versions = fact.Versions[:dependencyv1alpha1.MaxVersions]
	}
	failures := g.discoveryFailures(api)
	switch {
	case !g.Discovered:
		return fact, false
	case g.Forbidden != "":
		fact.Served, fact.Reason, fact.Message = metav1.ConditionUnknown, dependencyv1alpha1.ReasonForbidden, bounded(g.Forbidden)
	case api.Version == "" && len(fact.Versions) > 0, slices.Contains(g.Kinds[api.Kind], api.Version):
		fact.Served = metav1.ConditionTrue
		return fact, setFields(&fact, request.Fields, g.Schemas)
	case len(failures) > 0:
		fact.Served, fact.Reason = metav1.ConditionUnknown, dependencyv1alpha1.ReasonDiscoveryFailed
		fact.Message = bounded(strings.Join(failures, "; "))
	default:
		fact.Served = metav1.ConditionFalse
	}
	return fact, true
}

// discoveryFailures returns, sorted, the failures of those versions of the group that
// may serve the API.
func (g Group) discoveryFailures(api dependencyv1alpha1.API) []string {
	var failures []string
	for version, cause := range g.Failures {
		if api.Version == "" || api.Version == version {
			failures = append(failures, fmt.Sprintf("discovery of %s failed: %s", schema.GroupVersion{Group: api.Group, Version: version}, cause))
		}
	}
	slices.Sort(failures)
	return failures
}

// setFields adds the fields of a served API to the fact. It returns false if a field is not
// known yet.
func setFields(fact *dependencyv1alpha1.APIFact, paths []string, schemas Schemas) bool {
	kinds := kindsOf(fact)
	failures := schemaFailures(fact.Group, kinds, schemas)
	for _, path := range paths {
		field := dependencyv1alpha1.FieldFact{Path: path, Found: metav1.ConditionFalse}
		for _, kind := range kinds {
			exists, lookedUp := schemas.Fields[kind][path]
			if !lookedUp && schemas.Failures[kind] == "" {
				return false
			}
			if exists {
				field.Versions = append(field.Versions, kind.Version)
			}
		}
		switch {
		case len(field.Versions) > 0:
			field.Found = metav1.ConditionTrue
		case len(failures) > 0:
			field.Found = metav1.ConditionUnknown
			fact.Reason, fact.Message = dependencyv1alpha1.ReasonSchemaNotPublished, bounded(strings.Join(failures, "; "))
		}
		fact.Fields = append(fact.Fields, field)
	}
	return true
}

// kindsOf returns the kind in the requested version, or in all served versions if no version
// is requested.
func kindsOf(fact *dependencyv1alpha1.APIFact) []Kind {
	if fact.Version != "" {
		return []Kind{{Version: fact.Version, Kind: fact.Kind}}
	}
	kinds := make([]Kind, 0, len(fact.Versions))
	for _, version := range fact.Versions {
		kinds = append(kinds, Kind{Version: version, Kind: fact.Kind})
	}
	return kinds
}

// schemaFailures returns the messages about schemas that could not be read, in the order of
// the kinds.
func schemaFailures(group string, kinds []Kind, schemas Schemas) []string {
	var failures []string
	for _, kind := range kinds {
		if cause := schemas.Failures[kind]; cause != "" {
			failures = append(failures, fmt.Sprintf("the schema of %s could not be read: %s", schema.GroupVersion{Group: group, Version: kind.Version}, cause))
		}
	}
	return failures
}

// bounded cuts a message to the length that the schema of facts allows.
func bounded(message string) string {
	return text.Cut(strings.ToValidUTF8(message, "\uFFFD"), dependencyv1alpha1.MaxMessageLength)
}
