package cause

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// fails are findings: "b" a Required edge on b whose own dependency fails, "b!" one
// that is not installed, "b?" an Optional one that is not installed, "b+" a satisfied one.
func fails(edges string) []evaluation.Finding {
	var findings []evaluation.Finding
	for edge := range strings.FieldsSeq(edges) {
		name, sign := strings.TrimRight(edge, "!?+"), edge[len(edge)-1]
		finding := evaluation.Finding{Dependency: fixture.EdgeOn(fixture.Required(name)), Verdict: evaluation.NotInstalled}
		switch sign {
		case '!':
		case '?':
			finding.Dependency = fixture.EdgeOn(fixture.Optional(name))
		case '+':
			finding.Verdict = evaluation.Satisfied
		default:
			finding.Verdict, finding.Degraded = evaluation.NotAvailable, &metav1.Condition{Status: metav1.ConditionTrue}
		}
		findings = append(findings, finding)
	}
	return findings
}

// The gauge counts root causes with less than the plugin has, and finds the same.
func TestRootsAndPathsAgree(t *testing.T) {
	chance := fixture.Random(1)
	for range 2000 {
		cluster := map[string]string{}
		for _, addOn := range []string{"a", "b", "c", "d", "e"} {
			for _, dependency := range []string{"a", "b", "c", "d", "e"} {
				if chance.IntN(4) == 0 && dependency != addOn {
					cluster[addOn] += " " + dependency + []string{"", "!", "+"}[chance.IntN(3)]
				}
			}
		}
		failing := map[string][]FailingEdge{}
		byPaths := map[string]int{}
		for addOn, edges := range cluster {
			for _, finding := range fails(edges) {
				if finding.Unsatisfied() {
					failing[addOn] = append(failing[addOn], FailingEdge{Target: finding.Target(), Verdict: finding.Verdict, Follows: finding.Follows()})
				}
			}
			for _, path := range Paths(addOn, func(name string) []evaluation.Finding { return fails(cluster[name]) }) {
				byPaths[path.Root().Cause().String()]++
			}
		}
		byRoots := map[string]int{}
		for _, root := range Roots(failing) {
			byRoots[Cause{AddOn: root.Target, Verdict: root.Verdict}.String()] += root.Victims
		}
		if diff := cmp.Diff(byPaths, byRoots); diff != "" {
			t.Fatalf("on %v (-paths +roots):\n%s", cluster, diff)
		}
	}
}

func TestPaths(t *testing.T) {
	for name, test := range map[string]struct {
		cluster map[string]string
		want    string
	}{
		"all is well":                           {map[string]string{"a": "b+"}, ""},
		"one edge":                              {map[string]string{"a": "b!"}, "a>b"},
		"a chain":                               {map[string]string{"a": "b", "b": "c", "c": "d!"}, "a>b>c>d"},
		"two causes":                            {map[string]string{"a": "b c!", "b": "d!"}, "a>c a>b>d"},
		"one cause by two ways: the shorter":    {map[string]string{"a": "b d", "b": "c", "c": "x!", "d": "x!"}, "a>d>x"},
		"an Optional edge of its own":           {map[string]string{"a": "b?"}, ""},
		"an Optional edge of a dependency":      {map[string]string{"a": "b", "b": "c? d!"}, "a>b>d"},
		"nothing is known of the dependency":    {map[string]string{"a": "b"}, "a>b"},
		"add-ons that wait for each other only": {map[string]string{"a": "b", "b": "a"}, ""},
		"and for something else too":            {map[string]string{"a": "b", "b": "a c!"}, "a>b>c"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, path := range Paths("a", func(addOn string) []evaluation.Finding { return fails(test.cluster[addOn]) }) {
				way := path[0].AddOn
				for _, step := range path {
					way += ">" + step.Finding.Name()
				}
				got = append(got, way)
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// In a chain, each add-on has a way as long as its distance from the end. Bytes are
// compared: they do not depend on the speed of the machine.
func TestALongChainTakesNoMoreThanItsWay(t *testing.T) {
	allocated := func(length int) uint64 {
		cluster := map[string][]evaluation.Finding{}
		for i := range length {
			cluster[fmt.Sprint("a", i)] = fails(fmt.Sprintf("a%d", i+1))
		}
		cluster[fmt.Sprint("a", length-1)] = fails("end!")
		var start, end runtime.MemStats
		runtime.ReadMemStats(&start)
		paths := Paths("a0", func(addOn string) []evaluation.Finding { return cluster[addOn] })
		runtime.ReadMemStats(&end)
		if len(paths) != 1 || len(paths[0]) != length {
			t.Fatalf("got %d paths", len(paths))
		}
		return end.TotalAlloc - start.TotalAlloc
	}
	if short, long := allocated(100), allocated(1000); long > 20*short {
		t.Errorf("a chain that is 10 times as long takes %d instead of %d bytes", long, short)
	}
}
