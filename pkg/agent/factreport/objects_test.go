package factreport

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"open-cluster-management.io/interlock/pkg/agent/objectcount"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
)

type (
	objectKind  = dependencyv1alpha1.ObjectKind
	objectsInfo = dependencyv1alpha1.ObjectsFact
)

var (
	things   = objectKind{Group: "a.io", Kind: "Thing"}
	thingsAt = objectcount.Resource{Group: "a.io", Version: "v2", Resource: "things"}
	served   = apidiscovery.Group{
		Discovered: true, Kinds: map[string][]string{"Thing": {"v2", "v1"}}, Resources: map[string]string{"Thing": "things"},
	}
)

func TestObjectsFact(t *testing.T) {
	fact := func(count int64, atLeast bool) objectsInfo {
		return objectsInfo{ObjectKind: things, Count: &count, AtLeast: atLeast}
	}
	counted := func(count objectcount.Count) map[objectKind]objectcount.Count {
		return map[objectKind]objectcount.Count{things: count}
	}
	for _, test := range []struct {
		name    string
		group   apidiscovery.Group
		counts  map[objectKind]objectcount.Count
		want    objectsInfo
		unknown bool
	}{
		{name: "nothing is known yet", unknown: true},
		{name: "not served", group: apidiscovery.Group{Discovered: true}, want: fact(0, false)},
		{name: "not counted yet", group: served, unknown: true},
		{name: "no object", group: served, counts: counted(objectcount.Count{}), want: fact(0, false)},
		{name: "some", group: served, counts: counted(objectcount.Count{Number: 7}), want: fact(7, false)},
		{name: "many", group: served, counts: counted(objectcount.Count{Number: 40, AtLeast: true}), want: fact(40, true)},
		{
			name: "no right to list them", group: served,
			counts: counted(objectcount.Count{Reason: dependencyv1alpha1.ReasonForbidden, Message: strings.Repeat("x", 600)}),
			want: objectsInfo{
				ObjectKind: things, Reason: dependencyv1alpha1.ReasonForbidden, Message: strings.Repeat("x", 511) + "…",
			},
		},
		{
			name: "no right to discover the API", group: apidiscovery.Group{Discovered: true, Forbidden: "addon-agent may not"},
			want: objectsInfo{ObjectKind: things, Reason: dependencyv1alpha1.ReasonForbidden, Message: "addon-agent may not"},
		},
		{
			name: "an API that cannot be discovered", group: apidiscovery.Group{Discovered: true, Failures: map[string]string{"v1": "503"}},
			want: objectsInfo{
				ObjectKind: things, Reason: dependencyv1alpha1.ReasonDiscoveryFailed, Message: "discovery of a.io/v1 failed: 503",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := objectsFact(things, observation{groups: map[string]apidiscovery.Group{"a.io": test.group}, counts: test.counts})
			if ok == test.unknown {
				t.Errorf("known: %t", ok)
			}
			if diff := cmp.Diff(test.want, got); ok && diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestObjectsAreCountedAfterDiscovery tests that objects are counted after the discovery of their API, and that a single write has all
// facts.
func TestObjectsAreCountedAfterDiscovery(t *testing.T) {
	b := newBench(t)
	b.request(dependencyv1alpha1.ManagedClusterFactsSpec{APIs: []apiRequest{{API: thing}}, Objects: []objectKind{things}})
	b.reconcile(t)
	if _, watched := b.watched["a.io"]; !watched || len(b.counted) != 0 || b.writes != 0 {
		t.Fatalf("watched %v, counted %v, %d writes", b.watched, b.counted, b.writes)
	}
	b.groups["a.io"] = served
	b.reconcile(t)
	if diff := cmp.Diff([]objectcount.Resource{thingsAt}, b.counted); diff != "" || b.writes != 0 {
		t.Fatalf("%d writes, -want +got:\n%s", b.writes, diff)
	}
	b.counts = map[objectcount.Resource]objectcount.Count{thingsAt: {Number: 3}}
	b.reconcile(t)
	if b.writes != 1 {
		t.Fatalf("%d writes", b.writes)
	}
	b.facts.Status, _ = report(b.facts, b.observe(b.facts.Spec, nil))
	b.reconcile(t)
	if b.writes != 1 || *b.facts.Status.Objects[0].Count != 3 || b.facts.Status.ObservedGeneration != 1 || b.facts.Status.APIsServed != "1/1" {
		t.Errorf("%d writes of %+v", b.writes, b.facts.Status)
	}
	b.request(dependencyv1alpha1.ManagedClusterFactsSpec{APIs: []apiRequest{{API: thing}}})
	b.reconcile(t)
	if len(b.counted) != 0 {
		t.Errorf("still counts %v", b.counted)
	}
}

// TestUnknownCountKeepsReport tests an agent that has just started, and has not counted objects yet.
func TestUnknownCountKeepsReport(t *testing.T) {
	facts := &dependencyv1alpha1.ManagedClusterFacts{}
	facts.Generation, facts.Spec.Objects = 2, []objectKind{things}
	reported := objectsInfo{ObjectKind: things, Count: ptr.To[int64](40), AtLeast: true}
	unrequested := objectsInfo{ObjectKind: objectKind{Kind: "Other"}, Count: ptr.To[int64](1)}
	facts.Status = status{ObservedGeneration: 1, Objects: []objectsInfo{reported, unrequested}}
	got, complete := report(facts, observation{groups: map[string]apidiscovery.Group{"a.io": served}})
	if diff := cmp.Diff([]objectsInfo{reported}, got.Objects); diff != "" || complete || got.ObservedGeneration != 1 {
		t.Errorf("complete: %t, generation %d, -want +got:\n%s", complete, got.ObservedGeneration, diff)
	}
}

// TestStatusForEarlierCRD tests the status for a CRD of an earlier Interlock, which would refuse the field for objects.
func TestStatusForEarlierCRD(t *testing.T) {
	facts := &dependencyv1alpha1.ManagedClusterFacts{}
	if _, ok := emptyStatus(facts)["objects"]; ok {
		t.Error("writes objects where there are none")
	}
	facts.Status.Objects = []objectsInfo{{ObjectKind: things}}
	if _, ok := emptyStatus(facts)["objects"]; !ok {
		t.Error("leaves objects that another writer has added")
	}
}
