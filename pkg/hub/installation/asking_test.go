package installation

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestADependentThatLeavesAsksForNothing(t *testing.T) {
	for name, finalizers := range map[string][]string{"being deleted": {"example.com/pre-delete"}, "gone, and not evaluated yet": nil} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, listed, false, 1)
			leaving := leaf(0)
			patch := client.MergeFrom(leaving.DeepCopy())
			leaving.Finalizers = finalizers
			if err := b.hub.Patch(t.Context(), leaving, patch); err != nil {
				t.Fatal(err)
			}
			if err := b.hub.Delete(t.Context(), leaving); err != nil {
				t.Fatal(err)
			}
			writes, result, err := b.reconcile(t)
			if err != nil || len(b.decided(t)) > 0 || len(b.emitted()) > 0 || result.RequeueAfter != time.Minute {
				t.Errorf("%v %v %v", writes, result, err)
			}
			if b.Needs.Found(types.NamespacedName{Namespace: "cluster000", Name: "other"}, b.declared, nil); len(b.Needs.all()) != 1 {
				t.Error("it does not need base any more, so this shows nothing")
			}
		})
	}
}
