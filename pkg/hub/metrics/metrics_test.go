package metrics

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

func leafOn(cluster string) types.NamespacedName {
	return types.NamespacedName{Namespace: cluster, Name: "leaf"}
}

func finding(name string, verdict evaluation.Verdict) evaluation.Finding {
	return evaluation.Finding{
		Dependency: &addonv1alpha1.AddonDependency{Name: name, Type: addonv1alpha1.DependencyTypeRequired}, Verdict: verdict,
	}
}

// expect compares all series of a metric with lines of their labels and value.
func expect(t *testing.T, registry *prometheus.Registry, name, kind string, lines ...string) {
	t.Helper()
	text := "# HELP " + name + " " + Help[name] + "\n# TYPE " + name + " " + kind + "\n"
	for _, line := range lines {
		text += name + line + "\n"
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(text), name); err != nil {
		t.Error(err)
	}
}

// setFindings records the assessment of an add-on that blocks no upgrade.
func setFindings(m *Metrics, addOn types.NamespacedName, findings []evaluation.Finding) {
	m.Assessed(addOn, &outcome.Assessment{Findings: findings})
}

func TestUnsatisfied(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry)
	line := func(name, verdict string, count int) string {
		return fmt.Sprintf(`{addon="leaf",dependency=%q,type="Required",verdict=%q} %d`, name, verdict, count)
	}
	for _, step := range []struct {
		name   string
		action func()
		want   []string
	}{
		{"satisfied: no series", func() { setFindings(m, leafOn("c1"), []evaluation.Finding{finding("base", evaluation.Satisfied)}) }, nil},
		{"one cluster", func() {
			setFindings(m, leafOn("c1"), []evaluation.Finding{finding("base", evaluation.NotInstalled), finding("other", evaluation.Satisfied)})
		}, []string{line("base", "NotInstalled", 1)}},
		{"the same again", func() {
			setFindings(m, leafOn("c1"), []evaluation.Finding{finding("base", evaluation.NotInstalled), finding("other", evaluation.Satisfied)})
		}, []string{line("base", "NotInstalled", 1)}},
		{"another cluster", func() {
			setFindings(m, leafOn("c2"), []evaluation.Finding{finding("base", evaluation.NotInstalled), finding("other", evaluation.NotAvailable)})
		}, []string{line("base", "NotInstalled", 2), line("other", "NotAvailable", 1)}},
		{
			"another verdict", func() { setFindings(m, leafOn("c1"), []evaluation.Finding{finding("base", evaluation.NotAvailable)}) },
			[]string{line("base", "NotAvailable", 1), line("base", "NotInstalled", 1), line("other", "NotAvailable", 1)},
		},
		{
			"held: as before", func() { setFindings(m, leafOn("c1"), []evaluation.Finding{finding("base", evaluation.Held)}) },
			[]string{line("base", "NotAvailable", 1), line("base", "NotInstalled", 1), line("other", "NotAvailable", 1)},
		},
		{
			"one held beside a known one: the held one as before",
			func() {
				setFindings(m, leafOn("c2"), []evaluation.Finding{finding("base", evaluation.Held), finding("other", evaluation.NotInstalled)})
			},
			[]string{line("base", "NotAvailable", 1), line("base", "NotInstalled", 1), line("other", "NotInstalled", 1)},
		},
		{
			"a declaration that cannot be used: all as before", func() {
				setFindings(m, leafOn("c2"), []evaluation.Finding{{Verdict: evaluation.Held}})
			},
			[]string{line("base", "NotAvailable", 1), line("base", "NotInstalled", 1), line("other", "NotInstalled", 1)},
		},
		{
			"no dependencies any more", func() { setFindings(m, leafOn("c1"), nil) },
			[]string{line("base", "NotInstalled", 1), line("other", "NotInstalled", 1)},
		},
		{"gone", func() { m.Assessed(leafOn("c2"), nil) }, nil},
		{"gone twice", func() { m.Assessed(leafOn("c2"), nil) }, nil},
	} {
		step.action()
		t.Log(step.name)
		expect(t, registry, NameUnsatisfied, "gauge", step.want...)
	}
	if f := m.fleet; len(f.clusters) != 0 || len(f.pending) != 0 || len(f.sums) != 0 {
		t.Errorf("remembers what is gone: %v %v %v", f.clusters, f.pending, f.sums)
	}
}

func TestSeriesLiveAsLongAsTheRegistration(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry)
	m.Wrote("leaf", "R", WriteSuccess)
	expect(t, registry, NameWrites, "counter")

	m.SetAddOns([]string{"leaf", "base"})
	for _, addOn := range []string{"leaf", "base"} {
		m.Wrote(addOn, "R", WriteSuccess)
		m.Contested(addOn)
		m.SetProblems(addOn, []declaration.Problem{{Reason: declaration.ProblemCycle}, {Reason: declaration.ProblemCycle}})
	}
	m.Wrote("leaf", "R", WriteConflict)
	expect(t, registry, NameWrites, "counter", `{addon="base",reason="R",result="success"} 1`,
		`{addon="leaf",reason="R",result="conflict"} 1`, `{addon="leaf",reason="R",result="success"} 1`)
	expect(t, registry, NameInvalid, "gauge", `{addon="base",problem="DependencyCycle"} 2`, `{addon="leaf",problem="DependencyCycle"} 2`)

	m.SetProblems("leaf", nil)
	expect(t, registry, NameInvalid, "gauge", `{addon="base",problem="DependencyCycle"} 2`)

	m.SetAddOns([]string{"leaf"})
	m.Wrote("base", "R", WriteSuccess) // a late write during the cleanup
	m.Contested("base")
	expect(t, registry, NameWrites, "counter",
		`{addon="leaf",reason="R",result="conflict"} 1`, `{addon="leaf",reason="R",result="success"} 1`)
	expect(t, registry, NameContested, "counter", `{addon="leaf"} 1`)
	expect(t, registry, NameInvalid, "gauge")
}

func TestConcurrentUse(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry)
	var working sync.WaitGroup
	for i := range 8 {
		working.Go(func() {
			for range 200 {
				m.SetAddOns([]string{"leaf"})
				setFindings(m, leafOn(fmt.Sprint(i)), []evaluation.Finding{finding("base", evaluation.NotInstalled)})
				m.Wrote("leaf", "R", WriteSuccess)
				m.SetAddOns(nil)
				m.Assessed(leafOn(fmt.Sprint(i)), nil)
				if _, err := registry.Gather(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	working.Wait()
	expect(t, registry, NameUnsatisfied, "gauge")
	expect(t, registry, NameWrites, "counter")
}

func TestEveryMetricIsExplained(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry)
	m.SetAddOns([]string{"leaf"})
	m.Assessed(leafOn("c1"), &outcome.Assessment{
		Findings: []evaluation.Finding{finding("base", evaluation.NotInstalled)}, Blockers: protection.Blockers{Kubernetes: true},
	})
	m.Wrote("leaf", "R", WriteSuccess)
	m.Contested("leaf")
	m.Evaluated(1)
	m.SetProblems("leaf", []declaration.Problem{{Reason: declaration.ProblemCycle}})
	m.SetFacts("c1", FactsReported)
	m.FactsWrote(WriteSuccess)
	setFindings(m, leafOn("c2"), []evaluation.Finding{finding("base", evaluation.Held)})
	setFindings(m, leafOn("c3"), []evaluation.Finding{finding("base", evaluation.Waived)})
	m.Reacted(condition.ReactionNoticed, 1)
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Error(err, problems)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, family := range families {
		names = append(names, family.GetName())
		if family.GetHelp() != Help[family.GetName()] {
			t.Errorf("%s: help %q, want %q", family.GetName(), family.GetHelp(), Help[family.GetName()])
		}
	}
	if len(names) != len(Help) {
		t.Errorf("metrics %q, but %d are explained", slices.Sorted(slices.Values(names)), len(Help))
	}
}

func TestHowQuestionsStand(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry)
	m.SetFacts("c1", FactsWaiting)
	m.SetFacts("c2", FactsWaiting)
	m.SetFacts("c2", FactsWaiting)
	m.SetFacts("c3", FactsNotServed)
	m.SetLost("c2", true)
	expect(t, registry, NameSilentAgents, "gauge", " 1")
	expect(t, registry, NameFactsClusters, "gauge", `{standing="not_served"} 1`, `{standing="waiting"} 2`)
	m.SetFacts("c1", FactsReported)
	m.SetFacts("c2", FactsNone)
	m.SetFacts("c4", FactsNone)
	expect(t, registry, NameFactsClusters, "gauge", `{standing="answered"} 1`, `{standing="not_served"} 1`, `{standing="waiting"} 0`)
}
