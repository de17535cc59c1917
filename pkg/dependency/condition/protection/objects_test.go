package protection

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/test/fixture"
)

func providers(t *testing.T) *catalog.Catalog {
	t.Helper()
	return catalog.New([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "base", `
provides:
- {group: a.io, kind: Widget, version: v1}
- {group: a.io, kind: Widget, version: v2}
- {group: a.io, kind: Gadget}
- {kind: B}
- {kind: C}`),
		fixture.Specified(t, "other", "provides: [{group: a.io, kind: Widget, version: v3}]"),
		fixture.Specified(t, "plain", "{}"),
	})
}

func objectsOf(kind string, count int64, atLeast bool) dependencyv1alpha1.ObjectsFact {
	group, name, _ := strings.Cut(kind, "/")
	return dependencyv1alpha1.ObjectsFact{ObjectKind: dependencyv1alpha1.ObjectKind{Group: group, Kind: name}, Count: &count, AtLeast: atLeast}
}

func notCounted(reason dependencyv1alpha1.FactReason) dependencyv1alpha1.ObjectsFact {
	return dependencyv1alpha1.ObjectsFact{ObjectKind: dependencyv1alpha1.ObjectKind{Group: "a.io", Kind: "Widget"}, Reason: reason}
}

// TestObjects tests the sentences about objects of the kinds that add-on base provides, on its removal.
func TestObjects(t *testing.T) {
	const (
		provides = ", which add-on 'base' provides"
		lost     = ": they are lost or left without a controller when it is removed"
		help     = ": addon-agent may not list them. To let it count them, see " + CountingPage
	)
	widgets, threeWidgets := objectsOf("a.io/Widget", 40, true), objectsOf("a.io/Widget", 3, false)
	type on struct {
		cluster string
		facts   []dependencyv1alpha1.ObjectsFact
		stays   string
		last    bool
	}
	type facts = []dependencyv1alpha1.ObjectsFact
	for _, test := range []struct {
		name string
		on   []on
		want []string
	}{
		{name: "none", on: []on{{cluster: "c1", facts: facts{objectsOf("a.io/Widget", 0, false)}}}},
		{name: "nothing is reported", on: []on{{cluster: "c1"}}},
		{name: "of a kind of another add-on", on: []on{{cluster: "c1", facts: facts{objectsOf("b.io/Widget", 5, false)}}}},
		{
			name: "one", on: []on{{cluster: "c1", facts: facts{objectsOf("a.io/Widget", 1, false)}}},
			want: []string{"c1 has 1 object of Widget.a.io" + provides + ": it is lost or left without a controller when it is removed"},
		},
		{
			name: "at least one", on: []on{{cluster: "c1", facts: facts{objectsOf("a.io/Widget", 1, true)}}},
			want: []string{"c1 has at least 1 object of Widget.a.io" + provides + lost},
		},
		{
			name: "many", on: []on{{cluster: "c1", facts: facts{widgets}}},
			want: []string{"c1 has at least 40 objects of Widget.a.io" + provides + lost},
		},
		{
			name: "on a lost cluster", on: []on{{cluster: "c1", facts: facts{widgets}, last: true}},
			want: []string{"c1 last reported at least 40 objects of Widget.a.io" + provides + lost},
		},
		{name: "another provider stays", on: []on{{cluster: "c1", facts: facts{widgets}, stays: "other"}}},
		{
			name: "an add-on stays that does not provide it", on: []on{{cluster: "c1", facts: facts{widgets}, stays: "plain"}},
			want: []string{"c1 has at least 40 objects of Widget.a.io" + provides + lost},
		},
		{
			name: "the add-on itself is no other provider", on: []on{{cluster: "c1", facts: facts{threeWidgets}, stays: "base"}},
			want: []string{"c1 has 3 objects of Widget.a.io" + provides + lost},
		},
		{
			name: "on some clusters",
			on: []on{
				{cluster: "c3", facts: facts{threeWidgets}},
				{cluster: "c1", facts: facts{widgets}},
				{cluster: "c4", facts: facts{threeWidgets}, stays: "other"},
				{cluster: "c2", facts: facts{threeWidgets}},
			},
			want: []string{"3 clusters have at least 46 objects of Widget.a.io (c1, c2 and 1 more)" + provides + lost},
		},
		{
			name: "on some clusters, of which one is lost",
			on:   []on{{cluster: "c1", facts: facts{threeWidgets}}, {cluster: "c2", facts: facts{threeWidgets}, last: true}},
			want: []string{"2 clusters have 6 objects of Widget.a.io (c1, c2; last reported by 1 of them)" + provides + lost},
		},
		{
			name: "a number that cannot be", on: []on{
				{cluster: "c1", facts: facts{objectsOf("a.io/Widget", math.MaxInt64, false)}}, {cluster: "c2", facts: facts{threeWidgets}},
			},
			want: []string{"2 clusters have at least 1000000000000000 objects of Widget.a.io (c1, c2)" + provides + lost},
		},
		{
			name: "addon-agent has no right", on: []on{{cluster: "c1", facts: facts{notCounted(dependencyv1alpha1.ReasonForbidden)}}},
			want: []string{"how many objects of Widget.a.io exist on c1" + provides + ", is not known" + help},
		},
		{
			name: "addon-agent could not", on: []on{{cluster: "c1", facts: facts{notCounted(dependencyv1alpha1.ReasonCountFailed)}}},
			want: []string{"how many objects of Widget.a.io exist on c1" + provides + ", is not known: addon-agent could not count them"},
		},
		{
			name: "known on some clusters",
			on: []on{
				{cluster: "c1", facts: facts{threeWidgets}},
				{cluster: "c2", facts: facts{notCounted(dependencyv1alpha1.ReasonCountFailed)}},
				{cluster: "c3", facts: facts{notCounted(dependencyv1alpha1.ReasonForbidden)}},
			},
			want: []string{
				"c1 has 3 objects of Widget.a.io" + provides + lost,
				"how many objects of Widget.a.io exist on 2 clusters (c2, c3)" + provides + ", is not known" + help,
			},
		},
		{
			name: "of many kinds, of which another add-on provides one",
			on: []on{{cluster: "c1", stays: "other", facts: facts{
				widgets, objectsOf("/B", 2, false), objectsOf("a.io/Gadget", 2, false), objectsOf("/C", 9, false),
			}}},
			want: []string{
				"c1 has 9 objects of C" + provides + lost, "c1 has 2 objects of B" + provides + lost,
				"c1 has 2 objects of Gadget.a.io" + provides + lost,
			},
		},
		{
			name: "of more kinds than are named",
			on: []on{{cluster: "c1", facts: facts{
				widgets, objectsOf("/B", 2, false), objectsOf("a.io/Gadget", 3, false), objectsOf("/C", 9, false),
			}}},
			want: []string{
				"c1 has at least 40 objects of Widget.a.io" + provides + lost, "c1 has 9 objects of C" + provides + lost,
				"c1 has 3 objects of Gadget.a.io" + provides + lost, "there may be objects of 1 more kind on 1 cluster",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			declared := providers(t)
			for range 2 { // in any order
				slices.Reverse(test.on)
				objects := Objects{}
				for _, on := range test.on {
					existing := Existing(declared, "base", on.facts)
					objects.Add(declared, "base", on.cluster, existing, func(name string) bool { return name == on.stays }, on.last)
				}
				var got []string
				for _, sentence := range objects.Sentences() {
					got = append(got, sentence.Text)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			}
		})
	}
}

// A message stays short for a large fleet, and has its clusters as data.
func TestObjectsOfAFleet(t *testing.T) {
	declared, objects := providers(t), Objects{}
	stays := func(string) bool { return false }
	existing := []dependencyv1alpha1.ObjectsFact{objectsOf("a.io/Widget", 40, true)}
	for n := range 1000 {
		objects.Add(declared, "base", fmt.Sprintf("c%04d", n), existing, stays, n%2 == 0)
	}
	sentences := objects.Sentences()
	const want = "1000 clusters have at least 40000 objects of Widget.a.io (c0000, c0001 and 998 more; last reported by 500 of them), " +
		"which add-on 'base' provides: they are lost or left without a controller when it is removed"
	if len(sentences) != 1 || sentences[0].Text != want || len(sentences[0].Clusters) != 1000 || sentences[0].Clusters[0] != "c0000" {
		t.Errorf("%.500v", sentences)
	}
}

func TestOtherProviders(t *testing.T) {
	declared := providers(t)
	facts := []dependencyv1alpha1.ObjectsFact{objectsOf("a.io/Widget", 1, false), objectsOf("/B", 1, false)}
	if got := OtherProviders(declared, "base", facts); !slices.Equal(got, []string{"other"}) {
		t.Error(got)
	}
	if got := OtherProviders(declared, "other", facts); !slices.Equal(got, []string{"base"}) {
		t.Error(got)
	}
}
