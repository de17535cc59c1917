package configurer

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// edgeWithSettings returns a finding on an edge that requests a mode of an add-on. It is held without a mode.
func edgeWithSettings(target, mode string) evaluation.Finding {
	edge := &addonv1alpha1.AddonDependency{Name: target, Settings: &addonv1alpha1.DependencySettings{}}
	if mode == "" {
		return evaluation.Finding{Dependency: edge, Verdict: evaluation.Held}
	}
	return evaluation.Finding{
		Dependency: edge, Verdict: evaluation.NotInstalled, Detail: &evaluation.Detail{Settings: []settings.Variable{{
			Name:  "mode",
			Value: mode,
		}}},
	}
}

func TestRequestStore(t *testing.T) {
	unknown := evaluation.Finding{Verdict: evaluation.Held}
	type update struct {
		dependent string
		findings  []evaluation.Finding
	}
	for name, test := range map[string]struct {
		reason         string
		updates        []update
		want           []string
		read, complete bool
	}{
		"None": {reason: "no add-on requests anything", read: true, complete: true},
		"One": {
			reason: "one does", updates: []update{{"a", []evaluation.Finding{edgeWithSettings("base", "x")}}}, want: []string{"a=x"}, read: true,
			complete: true,
		},
		"OfOthers": {
			reason: "of another add-on", updates: []update{{"a", []evaluation.Finding{edgeWithSettings("other", "x")}}}, read: true, complete: true,
		},
		"Two": {
			reason: "they are ascending", updates: []update{{"b", []evaluation.Finding{edgeWithSettings("base", "y")}}, {
				"a",
				[]evaluation.Finding{edgeWithSettings("base", "x")},
			}},
			want: []string{"a=x", "b=y"}, read: true, complete: true,
		},
		"Gone": {
			reason: "it is no longer installed", updates: []update{{"a", []evaluation.Finding{edgeWithSettings("base", "x")}}, {"a", nil}},
			read:     true,
			complete: true,
		},
		"Held": {
			reason: "the cluster is lost: nothing new is known", want: []string{"a=x"}, complete: true,
			updates: []update{{"a", []evaluation.Finding{edgeWithSettings("base", "x")}}, {"a", []evaluation.Finding{edgeWithSettings("base", "")}}},
		},
		"OtherHeld": {
			reason: "that is of another add-on", want: []string{"a=x"}, read: true, complete: true,
			updates: []update{{"a", []evaluation.Finding{edgeWithSettings("base", "x"), edgeWithSettings("other", "")}}},
		},
		"Unknown": {
			reason: "an add-on whose declaration cannot be used keeps its requests", want: []string{"a=x"}, read: true,
			updates: []update{{"a", []evaluation.Finding{edgeWithSettings("base", "x")}}, {"a", []evaluation.Finding{unknown}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := &RequestStore{Changed: trigger.New()}
			for _, u := range test.updates {
				store.Update(types.NamespacedName{Namespace: "c", Name: u.dependent}, u.findings)
			}
			requests, read, complete := store.Get(types.NamespacedName{Namespace: "c", Name: "base"})
			var got []string
			for _, wish := range requests {
				got = append(got, wish.Dependent+"="+wish.Variables[0].Value)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || read != test.read || complete != test.complete {
				t.Errorf("%s: read %t, complete %t, -want, +got:\n%s", test.reason, read, complete, diff)
			}
		})
	}
}

func TestSettingsInFindings(t *testing.T) {
	store := &RequestStore{Changed: trigger.New()}
	for _, step := range []struct {
		reason, dependent string
		findings          []evaluation.Finding
		want              []string
	}{
		{"a new wish", "a", []evaluation.Finding{edgeWithSettings("base", "x")}, []string{"base"}},
		{"the same", "a", []evaluation.Finding{edgeWithSettings("base", "x")}, []string{}},
		{"another value", "a", []evaluation.Finding{edgeWithSettings("base", "y")}, []string{"base"}},
		{"of another add-on instead", "a", []evaluation.Finding{edgeWithSettings("other", "y")}, []string{"base", "other"}},
		{"it is not known what an add-on declares", "b", []evaluation.Finding{{Verdict: evaluation.Held}}, []string{}},
		{"now it is: all that waited for it", "b", nil, []string{"other"}},
		{"it is not known", "a", []evaluation.Finding{edgeWithSettings("other", "")}, []string{"other"}},
		{"it is no longer installed", "a", nil, []string{"other"}},
	} {
		got := sets.List(store.remember(types.NamespacedName{Namespace: "c", Name: step.dependent}, requestsIn(step.findings)))
		if !slices.Equal(got, step.want) {
			t.Errorf("%s: %v, want %v", step.reason, got, step.want)
		}
	}
	if len(store.requests) > 0 {
		t.Errorf("something is remembered: %v", store.requests)
	}
}
