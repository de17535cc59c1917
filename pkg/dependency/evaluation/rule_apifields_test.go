package evaluation_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestFieldsOfAPIs(t *testing.T) {
	const (
		fixed    = `dependencies: [{name: roles, api: {group: rbac.example.io, version: v1, kind: Role, fields: [spec.validate, spec.subjects]}}]`
		flexible = `dependencies: [{name: roles, api: {group: rbac.example.io, kind: Role, fields: [spec.validate, spec.subjects]}}]`

		notServed = "Required API 'Role.rbac.example.io/v1' is not served. "
		notKnown  = "Required API 'Role.rbac.example.io/v1' is not known to have the required fields. "
		lacking   = "Required API 'Role.rbac.example.io/v1' does not have the required fields. "
		anyLacks  = "Required API 'Role.rbac.example.io' does not have the required fields. "
	)
	requested := time.Unix(1000, 0)
	existsIn := func(versions ...string) evaluation.FieldFact {
		reports := metav1.ConditionFalse
		if len(versions) > 0 {
			reports = metav1.ConditionTrue
		}
		return evaluation.FieldFact{Exists: reports, Versions: versions}
	}
	unknown := evaluation.FieldFact{Exists: metav1.ConditionUnknown, Message: "too old"}
	type fields = map[string]evaluation.FieldFact
	reported := func(version string, fact evaluation.APIFact, later time.Duration) evaluation.Cluster {
		api := addonv1alpha1.AddonAPI{Group: "rbac.example.io", Version: version, Kind: "Role"}
		return evaluation.Cluster{
			Facts: evaluation.Facts{Requested: requested, APIs: evaluation.APIFacts{api: fact}}, Now: requested.Add(later),
		}
	}
	served := func(reports fields) evaluation.APIFact {
		return evaluation.APIFact{Served: metav1.ConditionTrue, Versions: []string{"v1"}, Fields: reports}
	}
	servedIn := func(reports fields, versions ...string) evaluation.APIFact {
		return evaluation.APIFact{Served: metav1.ConditionTrue, Versions: versions, Fields: reports}
	}
	for name, tc := range map[string]ruleCase{
		"All": {
			reason: "the schema has them", spec: fixed, want: "roles=Satisfied",
			cluster: reported("v1", served(fields{"spec.validate": existsIn("v1"), "spec.subjects": existsIn("v1")}), 0),
		},
		"OneMissing": {
			reason: "an older schema", spec: fixed, want: "roles=APINotServed",
			cluster: reported("v1", served(fields{"spec.validate": existsIn(), "spec.subjects": existsIn("v1")}), 0),
			message: lacking + "(served, but its schema has no field spec.validate)",
		},
		"SeveralMissing": {
			reason: "all of them, ascending", spec: fixed, want: "roles=APINotServed",
			cluster: reported("v1", served(fields{"spec.validate": existsIn(), "spec.subjects": existsIn()}), 0),
			message: lacking + "(served, but its schema has no fields spec.subjects, spec.validate)",
		},
		"Provider": {
			reason: "who could bring a newer schema", spec: fixed, want: "roles=APINotServed",
			others:  []addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "rbac", `provides: [{group: rbac.example.io, kind: Role}]`)},
			cluster: reported("v1", served(fields{"spec.validate": existsIn(), "spec.subjects": existsIn("v1")}), 0),
			message: lacking + "(served, but its schema has no field spec.validate; provided by addon 'rbac')",
		},
		"NotServed": {
			reason: "then there is no schema", spec: fixed, want: "roles=APINotServed",
			cluster: reported("v1", evaluation.APIFact{Served: metav1.ConditionFalse}, 0), message: notServed + "(not served)",
		},
		"NotReportedYet": {
			reason: "fields that were added to an edge do not degrade the fleet at once", spec: fixed, want: "roles=Held",
			cluster: reported("v1", served(fields{"spec.subjects": existsIn("v1")}), evaluation.ReportTime-1),
		},
		"NotReported": {
			reason: "and the time ends", spec: fixed, want: "roles=APINotServed",
			cluster: reported("v1", served(fields{"spec.subjects": existsIn("v1")}), evaluation.ReportTime),
			message: notKnown + "(served, but its fields are not known: the managed cluster's addon-agent has not reported it)",
		},
		"Unknown": {
			reason: "the agent could not find out, or is too old", spec: fixed, want: "roles=APINotServed",
			cluster: reported("v1", served(fields{"spec.validate": unknown, "spec.subjects": existsIn("v1")}), 0),
			message: notKnown + "(served, but its fields are not known: too old)",
		},
		"UnknownAndMissing": {
			reason: "what is certain counts", spec: fixed, want: "roles=APINotServed",
			cluster: reported("v1", served(fields{"spec.validate": unknown, "spec.subjects": existsIn()}), 0),
			message: lacking + "(served, but its schema has no field spec.subjects)",
		},
		"AnyVersion": {
			reason: "one has all of them", spec: flexible, want: "roles=Satisfied",
			cluster: reported("", servedIn(fields{"spec.validate": existsIn("v2"), "spec.subjects": existsIn("v1", "v2")}, "v1", "v2"), 0),
		},
		"NoVersionHasAll": {
			reason: "each has one of them", spec: flexible, want: "roles=APINotServed",
			cluster: reported("", servedIn(fields{"spec.validate": existsIn("v2"), "spec.subjects": existsIn("v1")}, "v1", "v2"), 0),
			message: anyLacks + "(served in v1, v2, but no version has all fields: the schema of v1 has no field spec.validate)",
		},
		"TheNearestVersion": {
			reason: "the least is missing there", spec: flexible, want: "roles=APINotServed",
			cluster: reported("", servedIn(fields{"spec.validate": existsIn(), "spec.subjects": existsIn("v2")}, "v1", "v2"), 0),
			message: anyLacks + "(served in v1, v2, but no version has all fields: the schema of v2 has no field spec.validate)",
		},
		"TheOnlyVersion": {
			reason: "it needs no name", spec: flexible, want: "roles=APINotServed",
			cluster: reported("", served(fields{"spec.validate": existsIn(), "spec.subjects": existsIn("v1")}), 0),
			message: anyLacks + "(served, but its schema has no field spec.validate)",
		},
	} {
		t.Run(name, tc.run)
	}
}
