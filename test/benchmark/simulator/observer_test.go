package simulator

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
)

func newObserver() *Observer {
	return &Observer{states: map[types.NamespacedName]State{}}
}

// show makes the observer receive an add-on with that Available.
func show(o *Observer, cluster string, status metav1.ConditionStatus) types.NamespacedName {
	addOn := installedAddOn(cluster, "a")
	addOn.Status.Conditions = conditions("a", status, joinTime, "")
	o.receive(addOn)
	return types.NamespacedName{Namespace: cluster, Name: "a"}
}

func TestAwait(t *testing.T) {
	o := newObserver()
	first, second := show(o, "cluster1", "True"), show(o, "cluster2", "True")
	expected := Expectation{first: AvailableIs("False"), second: AvailableIs("False")}
	w := o.expect(expected)
	if wrong := o.Wrong(expected); wrong != 2 {
		t.Errorf("%d are wrong", wrong)
	}
	show(o, "cluster1", "False")
	show(o, "cluster1", "True") // it was as expected once, which is enough
	before := time.Now()
	show(o, "cluster2", "False")
	select {
	case <-w.finished:
	default:
		t.Fatal("still waiting, although all were as expected")
	}
	if w.last.Before(before) {
		t.Error("tells the moment of the first, not of the last")
	}
	if wrong := o.Wrong(expected); wrong != 1 {
		t.Errorf("%d are wrong", wrong)
	}
	if len(o.waiting) != 0 {
		t.Error("remembers who has waited")
	}
}

func TestAwaitPresentState(t *testing.T) {
	o := newObserver()
	key := show(o, "cluster1", "True")
	if _, err := o.Await(t.Context(), Expectation{key: AvailableIs("True")}, time.Minute); err != nil {
		t.Error(err)
	}
}

func TestAwaitNamesPendingAddOns(t *testing.T) {
	o := newObserver()
	key := show(o, "cluster1", "True")
	_, err := o.Await(t.Context(), Expectation{key: AvailableIs("False")}, time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "1 add-ons, such as cluster1/a Available=True/") {
		t.Errorf("got %v", err)
	}
	if len(o.waiting) != 0 {
		t.Error("remembers who has given up")
	}
}

func TestChanges(t *testing.T) {
	o := newObserver()
	show(o, "cluster1", "True")
	start := time.Now()
	show(o, "cluster1", "False")
	show(o, "cluster1", "False")
	if changes := o.Changes(start); len(changes) != 1 || changes[0].Type != "Available" {
		t.Errorf("%v", changes)
	}
}

func TestObserverForgetsDeletedAddOns(t *testing.T) {
	o := newObserver()
	key := show(o, "cluster1", "True")
	o.receiveDeleted(toolscache.DeletedFinalStateUnknown{Key: key.String(), Obj: installedAddOn(key.Namespace, key.Name)})
	if len(o.states) != 0 {
		t.Errorf("%v", o.states)
	}
}
