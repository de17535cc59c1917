package metrics

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

type findings = []evaluation.Finding

func optional(name string, verdict evaluation.Verdict) evaluation.Finding {
	return evaluation.Finding{
		Dependency: &addonv1alpha1.AddonDependency{Name: name, Type: addonv1alpha1.DependencyTypeOptional}, Verdict: verdict,
	}
}

// follows returns a finding on an add-on that fails because of its own dependency.
func follows(name string) evaluation.Finding {
	f := finding(name, evaluation.NotAvailable)
	f.Degraded = &metav1.Condition{}
	return f
}

// anyOf returns a finding on an edge t with the alternatives b, c and d.
func anyOf(verdict evaluation.Verdict, alternatives ...evaluation.Finding) evaluation.Finding {
	f := finding("t", verdict)
	f.Dependency.AnyOf = []addonv1alpha1.DependencyAlternative{{AddOn: "b"}, {AddOn: "c"}, {AddOn: "d"}}
	for i := range alternatives {
		alternatives[i].Dependency.AddOn = f.Dependency.AnyOf[i].AddOn
	}
	if len(alternatives) > 0 {
		f.Detail = &evaluation.Detail{Alternatives: alternatives}
	}
	return f
}

// alias returns a finding on an edge whose name differs from its add-on.
func alias(name, addOn string, verdict evaluation.Verdict) evaluation.Finding {
	f := finding(name, verdict)
	f.Dependency.AddOn = addOn
	return f
}

func TestFleet(t *testing.T) {
	type set struct {
		addOn    string // cluster/name
		findings findings
	}
	for name, test := range map[string]struct {
		sets []set
		lost []string
		// series by metric; other metrics have none
		want map[string][]string
	}{
		"satisfied": {
			sets: []set{{"c1/a", findings{finding("b", evaluation.Satisfied), optional("c", evaluation.Satisfied)}}},
			want: map[string][]string{
				NameEdges: {
					`{addon="a",dependency="b",type="Required"} 1`, `{addon="a",dependency="c",type="Optional"} 1`,
				},
				NameRequiring: {`{addon="b"} 1`},
			},
		},
		"no alternative": {
			sets: []set{
				{"c1/a", findings{anyOf(
					evaluation.NoAlternative, finding("t", evaluation.NotInstalled), finding("t", evaluation.Cycle), finding("t", evaluation.NotAvailable),
				)}},
				{"c2/a", findings{anyOf(evaluation.Satisfied)}},
			},
			want: map[string][]string{
				NameEdges:       {`{addon="a",dependency="t",type="Required"} 2`},
				NameUnsatisfied: {`{addon="a",dependency="t",type="Required",verdict="NoAlternative"} 1`},
				NameRequiring:   {`{addon="b"} 2`, `{addon="c"} 2`, `{addon="d"} 2`},
				NameRoots:       {`{addon="b",verdict="NotInstalled"} 1`, `{addon="d",verdict="NotAvailable"} 1`},
				NameVictims:     {`{addon="b"} 1`, `{addon="d"} 1`},
			},
		},
		"waived": {
			sets: []set{{"c1/a", findings{finding("b", evaluation.Waived)}}, {"c2/a", findings{optional("b", evaluation.Waived)}}},
			want: map[string][]string{
				NameEdges: {
					`{addon="a",dependency="b",type="Optional"} 1`, `{addon="a",dependency="b",type="Required"} 1`,
				},
				NameWaived: {
					`{addon="a",dependency="b",type="Optional"} 1`, `{addon="a",dependency="b",type="Required"} 1`,
				},
			},
		},
		"an edge that does not apply is not counted": {
			sets: []set{{"c1/a", findings{finding("b", evaluation.NotApplicable)}}},
		},
		"a chain fails for one cause on two clusters": {
			sets: []set{
				{"c1/a", findings{follows("b")}},
				{"c1/b", findings{alias("tunnel", "c", evaluation.NotInstalled)}},
				{"c2/a", findings{follows("b")}},
				{"c2/b", findings{alias("tunnel", "c", evaluation.NotInstalled)}},
			},
			want: map[string][]string{
				NameEdges: {`{addon="a",dependency="b",type="Required"} 2`, `{addon="b",dependency="tunnel",type="Required"} 2`},
				NameUnsatisfied: {
					`{addon="a",dependency="b",type="Required",verdict="NotAvailable"} 2`,
					`{addon="b",dependency="tunnel",type="Required",verdict="NotInstalled"} 2`,
				},
				NameRequiring: {`{addon="b"} 2`, `{addon="c"} 2`},
				NameRoots:     {`{addon="c",verdict="NotInstalled"} 2`},
				NameVictims:   {`{addon="c"} 4`},
			},
		},
		"what keeps no add-on from working is no cause": {
			sets: []set{{"c1/a", findings{optional("b", evaluation.NotInstalled)}}},
			want: map[string][]string{
				NameEdges:       {`{addon="a",dependency="b",type="Optional"} 1`},
				NameUnsatisfied: {`{addon="a",dependency="b",type="Optional",verdict="NotInstalled"} 1`},
			},
		},
		"lost: all is held, and there is no cause": {
			sets: []set{{"c1/a", findings{finding("b", evaluation.NotInstalled), finding("c", evaluation.Satisfied)}}},
			lost: []string{"c1"},
			want: map[string][]string{
				NameEdges: {`{addon="a",dependency="b",type="Required"} 1`, `{addon="a",dependency="c",type="Required"} 1`},
				NameHeld: {
					`{addon="a",dependency="b",type="Required",verdict="NotInstalled"} 1`,
					`{addon="a",dependency="c",type="Required",verdict="Satisfied"} 1`,
				},
				NameUnsatisfied: {`{addon="a",dependency="b",type="Required",verdict="NotInstalled"} 1`},
			},
		},
		"held on a cluster that is there: the cause is kept": {
			sets: []set{{"c1/a", findings{finding("b", evaluation.NotInstalled)}}, {"c1/a", findings{finding("b", evaluation.Held)}}},
			want: map[string][]string{
				NameEdges:       {`{addon="a",dependency="b",type="Required"} 1`},
				NameHeld:        {`{addon="a",dependency="b",type="Required",verdict="NotInstalled"} 1`},
				NameUnsatisfied: {`{addon="a",dependency="b",type="Required",verdict="NotInstalled"} 1`},
				NameRequiring:   {`{addon="b"} 1`},
				NameRoots:       {`{addon="b",verdict="NotInstalled"} 1`},
				NameVictims:     {`{addon="b"} 1`},
			},
		},
		"held from the beginning": {
			sets: []set{{"c1/a", findings{finding("b", evaluation.Held)}}},
			want: map[string][]string{
				NameEdges:     {`{addon="a",dependency="b",type="Required"} 1`},
				NameHeld:      {`{addon="a",dependency="b",type="Required",verdict="Held"} 1`},
				NameRequiring: {`{addon="b"} 1`},
			},
		},
		"another declaration replaces the edges": {
			sets: []set{{"c1/a", findings{finding("b", evaluation.NotInstalled)}}, {"c1/a", findings{optional("b", evaluation.Satisfied)}}},
			want: map[string][]string{NameEdges: {`{addon="a",dependency="b",type="Optional"} 1`}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			registry := prometheus.NewRegistry()
			m := New(registry)
			// The same with a scrape after each step, and with one at the end.
			for _, scraped := range []bool{true, false} {
				for _, step := range test.sets {
					key := keyOf(step.addOn)
					m.Assessed(key, &outcome.Assessment{Findings: step.findings})
					if scraped {
						_, _ = registry.Gather()
					}
				}
				for _, cluster := range test.lost {
					m.SetLost(cluster, true)
					m.SetLost(cluster, true)
				}
				for name := range fleetLabels {
					expect(t, registry, name, "gauge", test.want[name]...)
				}
				for _, cluster := range test.lost {
					m.SetLost(cluster, false)
				}
				for _, step := range test.sets {
					m.Assessed(keyOf(step.addOn), nil)
				}
				if f := m.fleet; len(f.clusters) != 0 || len(f.current()) != 0 {
					t.Errorf("remembers what is gone: %v %v", f.clusters, f.sums)
				}
			}
		})
	}
}

func keyOf(addOn string) (key types.NamespacedName) {
	for i := range addOn {
		if addOn[i] == '/' {
			return types.NamespacedName{Namespace: addOn[:i], Name: addOn[i+1:]}
		}
	}
	return key
}

// A storm on a fleet of 5,000 clusters with 20 add-ons in chains, and one scrape.
func BenchmarkStorm(b *testing.B) {
	m := New(prometheus.NewRegistry())
	storm := func(fails bool) {
		for c := range 5000 {
			for a := range 19 {
				fs := findings{finding(fmt.Sprint("addon-", a+1), evaluation.Satisfied)}
				switch {
				case fails && a == 18:
					fs[0].Verdict = evaluation.NotAvailable
				case fails:
					fs = findings{follows(fmt.Sprint("addon-", a+1))}
				}
				m.fleet.set(types.NamespacedName{Namespace: fmt.Sprint("cluster-", c), Name: fmt.Sprint("addon-", a)}, fs)
			}
		}
		started := time.Now()
		m.fleet.current()
		b.ReportMetric(float64(time.Since(started).Milliseconds()), "ms/scrape")
	}
	for b.Loop() {
		storm(true)
		storm(false)
	}
}

func TestBlockers(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry)
	kubernetes, all := protection.Blockers{Kubernetes: true}, protection.Blockers{Kubernetes: true, OCM: true}
	meets := findings{{Requirement: &declaration.Requirement{Name: "requirements.kubernetes"}, Verdict: evaluation.Satisfied}}
	assess := func(cluster string, edges findings, blockers protection.Blockers) {
		key := types.NamespacedName{Namespace: cluster, Name: "leaf"}
		m.Assessed(key, &outcome.Assessment{Findings: edges, Blockers: blockers})
	}
	for _, step := range []struct {
		name   string
		action func()
		want   []string
	}{
		{"an add-on without edges: no series", func() { assess("c1", nil, all) }, nil},
		{
			"one cluster", func() { assess("c1", meets, all) },
			[]string{`{addon="leaf",platform="kubernetes"} 1`, `{addon="leaf",platform="ocm"} 1`},
		},
		{
			"another cluster", func() { assess("c2", meets, kubernetes) },
			[]string{`{addon="leaf",platform="kubernetes"} 2`, `{addon="leaf",platform="ocm"} 1`},
		},
		{
			"other verdicts", func() { assess("c2", append(findings{finding("base", evaluation.NotInstalled)}, meets...), kubernetes) },
			[]string{`{addon="leaf",platform="kubernetes"} 2`, `{addon="leaf",platform="ocm"} 1`},
		},
		{
			"a lost cluster", func() { m.SetLost("c2", true) },
			[]string{`{addon="leaf",platform="kubernetes"} 1`, `{addon="leaf",platform="ocm"} 1`},
		},
		{
			"it is back", func() { m.SetLost("c2", false) },
			[]string{`{addon="leaf",platform="kubernetes"} 2`, `{addon="leaf",platform="ocm"} 1`},
		},
		{"a wider range", func() { assess("c1", meets, protection.Blockers{}) }, []string{`{addon="leaf",platform="kubernetes"} 1`}},
		{"uninstalled", func() { m.Assessed(leafOn("c2"), nil) }, nil},
		{"installed again", func() { assess("c2", meets, protection.Blockers{}) }, nil},
	} {
		step.action()
		t.Log(step.name)
		expect(t, registry, NameBlockers, "gauge", step.want...)
	}
}
