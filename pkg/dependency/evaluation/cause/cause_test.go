package cause

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestCause(t *testing.T) {
	onAPI := fixture.EdgeOn(addonv1alpha1.AddonDependency{
		Name: "certificates", API: &addonv1alpha1.DependencyAPI{
			AddonAPI: addonv1alpha1.AddonAPI{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"},
		},
	})
	for name, test := range map[string]struct {
		finding evaluation.Finding
		want    Cause
	}{
		"an add-on": {
			evaluation.Finding{Dependency: fixture.EdgeOn(fixture.Required("b")), Verdict: evaluation.NotInstalled},
			Cause{AddOn: "b", Verdict: evaluation.NotInstalled},
		},
		"one that is not available": {
			evaluation.Finding{
				Dependency: fixture.EdgeOn(fixture.Required("b")), Verdict: evaluation.NotAvailable, Available: &metav1.Condition{Reason: "Stopped"},
			},
			Cause{AddOn: "b", Verdict: evaluation.NotAvailable, Reason: "Stopped"},
		},
		"one that is being removed": {
			evaluation.Finding{
				Dependency: fixture.EdgeOn(fixture.Required("b")), Verdict: evaluation.NotAvailable, Available: &metav1.Condition{Reason: "Stopped"},
				Detail: &evaluation.Detail{Removing: fixture.Now.Time},
			},
			Cause{AddOn: "b", Verdict: evaluation.NotAvailable, Removing: true, Reason: "Stopped"},
		},
		"one that is being removed and still available": {
			evaluation.Finding{
				Dependency: fixture.EdgeOn(fixture.Required("b")), Verdict: evaluation.VersionMismatch,
				Detail: &evaluation.Detail{Removing: fixture.Now.Time},
			},
			Cause{AddOn: "b", Verdict: evaluation.VersionMismatch},
		},
		"a cycle, by whichever edge": {
			evaluation.Finding{
				Dependency: fixture.EdgeOn(fixture.Required("c")), Verdict: evaluation.Cycle, Cycle: []string{"a", "c", "a"},
			},
			Cause{AddOn: "a", Verdict: evaluation.Cycle, Cycle: "dependency cycle: a → c → a"},
		},
		"an API": {
			evaluation.Finding{Dependency: onAPI, Verdict: evaluation.APINotServed},
			Cause{API: "Certificate.cert-manager.io/v1", Verdict: evaluation.APINotServed},
		},
		"an API that no agent reports": {
			evaluation.Finding{Dependency: onAPI, Verdict: evaluation.APINotServed, Detail: &evaluation.Detail{Unreported: true}},
			Cause{API: "Certificate.cert-manager.io/v1", Verdict: evaluation.APINotServed, Unreported: true},
		},
		"an API that is served, without a field": {
			evaluation.Finding{Dependency: onAPI, Verdict: evaluation.APINotServed, Detail: &evaluation.Detail{Served: true}},
			Cause{API: "Certificate.cert-manager.io/v1", Verdict: evaluation.APINotServed, Served: true},
		},
		"a requirement": {
			evaluation.Finding{Requirement: &declaration.Requirement{Name: "requirements.kubernetes"}, Verdict: evaluation.RequirementNotMet},
			Cause{Requirement: "requirements.kubernetes", Dependent: "a", Verdict: evaluation.RequirementNotMet},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (Step{AddOn: "a", Finding: &test.finding}).Cause(); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestRanking(t *testing.T) {
	minutes := func(minute int) time.Time { return fixture.Now.Add(time.Duration(minute) * time.Minute) }
	var ranking Ranking
	ranking.Add(Cause{AddOn: "one"}, Victim{Cluster: "c1", AddOn: "x"})
	ranking.Add(Cause{AddOn: "one"}, Victim{Cluster: "c1", AddOn: "y"})
	ranking.Add(Cause{AddOn: "one"}, Victim{Cluster: "c1", AddOn: "z"})
	ranking.Add(Cause{AddOn: "wide"}, Victim{Cluster: "c2", AddOn: "x", Since: minutes(2)})
	ranking.Add(Cause{AddOn: "wide"}, Victim{Cluster: "c1", AddOn: "x", Since: minutes(3)})
	ranking.Add(Cause{AddOn: "wide"}, Victim{Cluster: "c1", AddOn: "x", Since: minutes(3)}) // by two of its edges
	ranking.Add(Cause{AddOn: "wide"}, Victim{Cluster: "c3", AddOn: "x"})
	ranking.Add(Cause{AddOn: "another"}, Victim{Cluster: "c1", AddOn: "x"})
	var got []string
	for _, ranked := range ranking.Ranked() {
		got = append(got, fmt.Sprintf("%s: %d victims on %v", ranked.AddOn, len(ranked.Victims), ranked.Clusters()))
	}
	want := []string{
		"wide: 3 victims on [c1 c2 c3]",
		"one: 3 victims on [c1]",
		"another: 1 victims on [c1]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if empty := (&Ranking{}).Ranked(); len(empty) != 0 {
		t.Errorf("an empty ranking has %v", empty)
	}
}

func TestShared(t *testing.T) {
	clusters := func(n int, traits Traits) []Traits {
		traitsOf := make([]Traits, n)
		for i := range traitsOf {
			traitsOf[i] = Traits{"id": fmt.Sprint(i)}
			for name, value := range traits {
				traitsOf[i][name] = value
			}
		}
		return traitsOf
	}
	aws, azure := Traits{"claim platform": "AWS", "label region": "eu"}, Traits{"claim platform": "Azure", "label region": "eu"}
	for name, test := range map[string]struct {
		affected, others []Traits
		want             []Common
	}{
		"one platform": {clusters(10, aws), clusters(20, azure), []Common{{Name: "claim platform", Value: "AWS", Affected: 10}}},
		"with an exception": {
			append(clusters(18, aws), azure), append(clusters(9, azure), aws),
			[]Common{{Name: "claim platform", Value: "AWS", Affected: 18, Others: 1}},
		},
		"everything is alike":   {clusters(10, aws), clusters(20, aws), nil},
		"too many exceptions":   {append(clusters(8, aws), clusters(2, azure)...), clusters(20, azure), nil},
		"a single affected one": {clusters(1, aws), clusters(20, azure), nil},
		"all clusters are":      {clusters(10, aws), nil, nil},
		"the largest difference": {
			clusters(4, Traits{"a": "1", "b": "1"}), append(clusters(2, Traits{"a": "1"}), clusters(6, nil)...),
			[]Common{{Name: "b", Value: "1", Affected: 4}, {Name: "a", Value: "1", Affected: 4, Others: 2}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Shared(test.affected, test.others)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A missing API of the hub is the same cause for all clusters. A missing API of a hosting cluster is the same cause for all
// clusters with agents on it.
func TestCausesOfAPIsOfOtherClusters(t *testing.T) {
	step := func(server addonv1alpha1.APIServer, detail *evaluation.Detail) Step {
		api := &addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Kind: "Thing"}, ServedBy: server}
		return Step{AddOn: "a", Finding: &evaluation.Finding{
			Dependency: &addonv1alpha1.AddonDependency{Name: "thing", API: api}, Verdict: evaluation.APINotServed, Detail: detail,
		}}
	}
	east, west := &evaluation.Detail{HostingCluster: "east"}, &evaluation.Detail{HostingCluster: "west", Unreported: true}
	for name, test := range map[string]struct {
		reason string
		step   Step
		want   string
	}{
		"Managed":  {"the default", step("", nil), "Thing is not served"},
		"Declared": {"the same", step(addonv1alpha1.APIServerManagedCluster, nil), "Thing is not served"},
		"Hub":      {"the hub is one", step(addonv1alpha1.APIServerHub, nil), "Thing on the hub is not served"},
		"HubField": {
			"its schema is older", step(addonv1alpha1.APIServerHub, &evaluation.Detail{Served: true}),
			"Thing on the hub does not have the required fields",
		},
		"Itself": {"it runs its own agent", step(addonv1alpha1.APIServerHostingCluster, nil), "Thing is not served"},
		"East":   {"a cluster of many", step(addonv1alpha1.APIServerHostingCluster, east), "Thing on hosting cluster east is not served"},
		"West": {
			"another one", step(addonv1alpha1.APIServerHostingCluster, west), "Thing on hosting cluster west is not known to be served",
		},
	} {
		if got := test.step.Cause().String(); got != test.want {
			t.Errorf("%s: %s: got %q, want %q", name, test.reason, got, test.want)
		}
	}
	if step("", nil).Cause() == step(addonv1alpha1.APIServerHub, nil).Cause() {
		t.Error("an API of the hub has the cause of one of managed clusters")
	}
}
