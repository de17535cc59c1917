package facts

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"open-cluster-management.io/interlock/pkg/agent/apidiscovery"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// setFields reports on the fields of an API that is served. It returns false while one of
// them is not known yet.
func setFields(fact *dependencyv1alpha1.APIFact, paths []string, schemas apidiscovery.Schemas) bool {
	kinds := kindsOf(fact)
	failures := schemaFailures(fact.Group, kinds, schemas)
	for _, path := range paths {
		field := dependencyv1alpha1.FieldFact{Path: path, Found: metav1.ConditionFalse}
		for _, kind := range kinds {
			found, lookedUp := schemas.Fields[kind][path]
			if !lookedUp && schemas.Failures[kind] == "" {
				return false
			}
			if found {
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

// kindsOf returns the versions whose schema matters: the one requested, or all that are
// served.
func kindsOf(fact *dependencyv1alpha1.APIFact) []apidiscovery.Kind {
	if fact.Version != "" {
		return []apidiscovery.Kind{{Version: fact.Version, Kind: fact.Kind}}
	}
	kinds := make([]apidiscovery.Kind, 0, len(fact.Versions))
	for _, version := range fact.Versions {
		kinds = append(kinds, apidiscovery.Kind{Version: version, Kind: fact.Kind})
	}
	return kinds
}

// schemaFailures returns, in the order of the kinds, why their schemas are not known.
func schemaFailures(group string, kinds []apidiscovery.Kind, schemas apidiscovery.Schemas) []string {
	var failures []string
	for _, kind := range kinds {
		if cause := schemas.Failures[kind]; cause != "" {
			failures = append(failures, fmt.Sprintf("the schema of %s could not be read: %s", schema.GroupVersion{Group: group, Version: kind.Version}, cause))
		}
	}
	return failures
}
