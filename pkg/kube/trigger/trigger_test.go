package trigger_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/test/triggertest"
)

func TestTrigger(t *testing.T) {
	first, second := types.NamespacedName{Namespace: "cluster1", Name: "leaf"}, types.NamespacedName{Name: "cluster1"}
	controllerTrigger := trigger.New()
	controllerTrigger.Enqueue(first) // no controller runs yet: it must not block
	controllerTrigger.EnqueueAfter(0, first)

	queue := triggertest.NewQueue(t)
	if err := controllerTrigger.Source(second).Start(t.Context(), queue); err != nil {
		t.Fatal(err)
	}
	if got := triggertest.Drain(queue); !slices.Equal(got, []string{"/cluster1"}) {
		t.Errorf("begins with %q", got)
	}
	controllerTrigger.Enqueue(first, second, first)
	if got := triggertest.Drain(queue); !slices.Equal(got, []string{"/cluster1", "cluster1/leaf"}) {
		t.Errorf("enqueues %q", got)
	}
	controllerTrigger.EnqueueAfter(0, first)
	if got := triggertest.Drain(queue); !slices.Equal(got, []string{"cluster1/leaf"}) {
		t.Errorf("enqueues %q later", got)
	}
}
