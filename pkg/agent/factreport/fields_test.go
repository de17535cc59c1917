package factreport

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
)

func TestFieldFacts(t *testing.T) {
	type field = dependencyv1alpha1.FieldFact
	v1, v2 := apidiscovery.Kind{Version: "v1", Kind: "Thing"}, apidiscovery.Kind{Version: "v2", Kind: "Thing"}
	served := func(fields map[apidiscovery.Kind]map[string]bool, failures map[apidiscovery.Kind]string) apidiscovery.Group {
		return apidiscovery.Group{
			Discovered: true, Kinds: map[string][]string{"Thing": {"v2", "v1"}}, Schemas: apidiscovery.Schemas{Fields: fields, Failures: failures},
		}
	}
	onlyV2 := map[apidiscovery.Kind]map[string]bool{v1: {"spec.a": true, "spec.b": false}, v2: {"spec.a": true, "spec.b": true}}
	inNeither := map[apidiscovery.Kind]map[string]bool{v1: {"spec.a": true, "spec.b": false}, v2: {"spec.a": true, "spec.b": false}}
	const failure = "the schema of a.io/v1 could not be read: 503"
	for _, test := range []struct {
		name      string
		requested api
		group     apidiscovery.Group
		want      []field
		message   string
		unknown   bool
	}{
		{
			name: "any version", requested: thing, group: served(onlyV2, nil),
			want: []field{
				{Path: "spec.a", Found: "True", Versions: []string{"v2", "v1"}}, {Path: "spec.b", Found: "True", Versions: []string{"v2"}},
			},
		},
		{
			name: "one version", requested: thingV2, group: served(onlyV2, nil),
			want: []field{{Path: "spec.a", Found: "True", Versions: []string{"v2"}}, {Path: "spec.b", Found: "True", Versions: []string{"v2"}}},
		},
		{
			name: "missing", requested: thing, group: served(inNeither, nil),
			want: []field{{Path: "spec.a", Found: "True", Versions: []string{"v2", "v1"}}, {Path: "spec.b", Found: "False"}},
		},
		{
			name: "a schema that cannot be read, of several", requested: thing,
			group: served(map[apidiscovery.Kind]map[string]bool{v2: {"spec.a": true, "spec.b": false}}, map[apidiscovery.Kind]string{v1: "503"}),
			want:  []field{{Path: "spec.a", Found: "True", Versions: []string{"v2"}}, {Path: "spec.b", Found: "Unknown"}}, message: failure,
		},
		{
			name: "the schema of another version cannot be read", requested: thingV2,
			group: served(map[apidiscovery.Kind]map[string]bool{v2: {"spec.a": true, "spec.b": false}}, map[apidiscovery.Kind]string{v1: "503"}),
			want:  []field{{Path: "spec.a", Found: "True", Versions: []string{"v2"}}, {Path: "spec.b", Found: "False"}},
		},
		{
			name: "not looked up yet", requested: thing, unknown: true,
			group: served(map[apidiscovery.Kind]map[string]bool{v1: {"spec.a": true}, v2: {"spec.a": true}}, nil),
		},
		{name: "not served", requested: api{Group: "a.io", Kind: "Other"}, group: served(onlyV2, nil)},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := test.group.Fact(apiRequest{API: test.requested, Fields: []string{"spec.a", "spec.b"}})
			if ok == test.unknown {
				t.Errorf("known: %t", ok)
			}
			if diff := cmp.Diff(test.want, got.Fields); diff != "" && ok {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Message != test.message || (got.Reason != "") != (test.message != "") {
				t.Errorf("reason %q with message %q", got.Reason, got.Message)
			}
		})
	}
}

func TestRequestedFieldsAreWatched(t *testing.T) {
	b := newBench(t)
	b.groups["a.io"] = apidiscovery.Group{Discovered: true, Kinds: map[string][]string{"Thing": {"v1"}}}
	b.request(dependencyv1alpha1.ManagedClusterFactsSpec{APIs: []apiRequest{{API: thing}, {API: thingV2, Fields: []string{"spec.a"}}}})
	b.reconcile(t)
	want := map[string]apidiscovery.Fields{"a.io": {{Version: "v2", Kind: "Thing"}: {"spec.a"}}}
	if diff := cmp.Diff(want, b.watched); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestUnknownFieldsKeepReport tests that a request for another field does not remove reported fields.
func TestUnknownFieldsKeepReport(t *testing.T) {
	reported := apiFacts{API: thing, Served: metav1.ConditionTrue, Versions: []string{"v1"}}
	facts := &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	facts.Spec.APIs = []apiRequest{{API: thing, Fields: []string{"spec.a"}}}
	facts.Status = status{ObservedGeneration: 1, APIs: []apiFacts{reported}}
	got, complete := report(facts, observation{groups: map[string]apidiscovery.Group{
		"a.io": {Discovered: true, Kinds: map[string][]string{"Thing": {"v1"}}},
	}})
	if diff := cmp.Diff([]apiFacts{reported}, got.APIs); diff != "" || complete || got.ObservedGeneration != 1 {
		t.Errorf("complete %t, generation %d (-want +got):\n%s", complete, got.ObservedGeneration, diff)
	}
}
