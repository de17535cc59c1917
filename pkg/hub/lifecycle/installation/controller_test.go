package installation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/triggertest"
)

func TestItInstallsAndRemoves(t *testing.T) {
	b := newBench(t, 1, manual, needing)
	want := []string{"create AddOnInstallation base", "create ManagedClusterAddOn base", "update AddOnInstallation base"}
	if writes := b.settle(t); !slices.Equal(writes, want) {
		t.Errorf("installed by %q", writes)
	}
	if got := b.stored(t, 0); got != "Installed" {
		t.Errorf("stored %s", got)
	}
	b.delete(t, addOn(0, "leaf"))
	b.settle(t)
	if got := b.stored(t, 0); got != "Unused" {
		t.Errorf("stored %s", got)
	}
	if got := testutil.ToFloat64(b.Metrics.kept.gauge.WithLabelValues("base", "delay")); got != 1 {
		t.Errorf("%v wait", got)
	}
	if writes, err := b.round(t, 58*time.Minute); err != nil || len(writes) > 0 {
		t.Errorf("too early: %q %v", writes, err)
	}
	if _, err := b.round(t, 2*time.Minute); err != nil {
		t.Error(err)
	}
	b.settle(t)
	if b.installed(t, "base") != 0 || b.stored(t, 0) != "" {
		t.Errorf("stored %q after the removal", b.stored(t, 0))
	}
	if got := b.emitted(); !slices.Equal(got, []string{EventInstalls, EventRemoves}) {
		t.Errorf("emitted %q", got)
	}
	if left := testutil.CollectAndCount(b.Metrics.kept.gauge); left != 0 {
		t.Errorf("%d series are left", left)
	}
}

// The first 20 of 100 managed clusters refuse the add-on. They take nothing of what the others may use, and are tried again.
func TestARefusalTakesNothingOfTheBounds(t *testing.T) {
	b := newBench(t, 100, manual, needing)
	evaluated := triggertest.Enqueued(t, b.Evaluate)
	resource := schema.GroupResource{Resource: "managedclusteraddons"}
	refuses := true
	b.refuse = func(_ string, key types.NamespacedName) error {
		if refuses && key.Name == "base" && key.Namespace < clusterOf(20).Name {
			return apierrors.NewForbidden(resource, key.Name, fmt.Errorf("exceeded quota: 'addons'"))
		}
		return nil
	}
	for minute := range 4 {
		if _, err := b.round(t, time.Minute); err == nil {
			t.Error("a refusal is no error, so it is not tried again")
		}
		if got := b.installed(t, "base"); got != 20*(minute+1) {
			t.Errorf("after %d minutes: %d are installed", minute, got)
		}
	}
	writes, err := b.round(t, time.Minute)
	if err == nil || len(writes) > 0 {
		t.Errorf("a refusal is written again: %d %v", len(writes), err)
	}
	if got := b.stored(t, 0); got != "Installing Refused" {
		t.Errorf("stored %s", got)
	}
	if got := b.Inputs.Installations.Wait(on(0, "base")); got != evaluation.WaitRefused {
		t.Errorf("waits for %s", got)
	}
	if got := testutil.ToFloat64(b.Metrics.waiting.gauge.WithLabelValues("base", "refused")); got != 20 {
		t.Errorf("%v are refused", got)
	}
	evaluated()
	if writes, err := b.round(t, time.Minute); err == nil || len(writes) > 0 || len(evaluated()) > 0 {
		t.Errorf("without a change: %q %v", writes, err)
	}
	refuses = false
	if _, err := b.round(t, time.Minute); err != nil || b.installed(t, "base") != 100 {
		t.Errorf("%v, %d are installed", err, b.installed(t, "base"))
	}
	if b.settle(t); b.stored(t, 0) != "Installed" || b.Inputs.Installations.Wait(on(0, "base")) != evaluation.WaitUnknown {
		t.Errorf("stored %s", b.stored(t, 0))
	}
}

func TestARefusedRemovalIsTriedAgain(t *testing.T) {
	b := newBench(t, 1, manual, needing)
	b.settle(t)
	b.delete(t, addOn(0, "leaf"))
	b.settle(t)
	b.refuse = func(verb string, key types.NamespacedName) error {
		return apierrors.NewForbidden(schema.GroupResource{}, key.Name, fmt.Errorf("protected"))
	}
	if _, err := b.round(t, time.Hour); err == nil || b.stored(t, 0) != "Removing Refused" {
		t.Errorf("%v, stored %s", err, b.stored(t, 0))
	}
	b.refuse = func(string, types.NamespacedName) error { return nil }
	if b.settle(t); b.installed(t, "base") != 0 || b.stored(t, 0) != "" {
		t.Errorf("stored %s", b.stored(t, 0))
	}
}

// Wherever the process ends, the next leader ends where this one would have.
func TestACrashAtAnyWrite(t *testing.T) {
	writes := []string{
		"create AddOnInstallation base", "create ManagedClusterAddOn base", "update AddOnInstallation base", "delete ManagedClusterAddOn base",
		"delete AddOnInstallation base",
	}
	for _, write := range writes {
		for _, when := range []string{"before ", "after "} {
			t.Run(when+write, func(t *testing.T) {
				b := newBench(t, 1, manual, needing)
				crashed := 0
				b.crash = func(now string) error {
					if now == when+write {
						crashed++
						b.crash = func(string) error { return nil }
						return errCrash
					}
					return nil
				}
				run := func(after time.Duration) {
					for range 5 {
						if _, err := b.round(t, after); err != nil {
							b.lead()
						}
						after = time.Second
					}
				}
				run(0)
				if b.installed(t, "base") != 1 || b.stored(t, 0) != "Installed" {
					t.Fatalf("stored %q", b.stored(t, 0))
				}
				crash := b.crash
				b.crash = func(string) error { return nil }
				b.delete(t, addOn(0, "leaf"))
				b.crash = crash
				run(0)
				run(time.Hour)
				run(time.Minute)
				if b.installed(t, "base") != 0 || b.stored(t, 0) != "" || crashed != 1 {
					t.Errorf("stored %q, crashed %d times", b.stored(t, 0), crashed)
				}
			})
		}
	}
}

// What another writer removes before it is found in the cache counts, too.
func TestItGivesUpWhereItIsRemovedAtOnce(t *testing.T) {
	b := newBench(t, 1, manual, needing)
	for range 5 {
		if _, err := b.round(t, time.Second); err != nil {
			t.Fatal(err)
		}
		if b.installed(t, "base") == 1 {
			b.delete(t, addOn(0, "base"))
		}
	}
	if got := b.emitted(); !slices.Equal(got, []string{EventInstalls, EventInstalls, EventGivenUp}) {
		t.Errorf("emitted %q", got)
	}
}

// What is removed twice within an hour is given up, also by the next leader.
func TestItGivesUp(t *testing.T) {
	b := newBench(t, 1, manual, needing)
	b.settle(t)
	for range 2 {
		b.delete(t, addOn(0, "base"))
		b.settle(t)
	}
	if b.stored(t, 0) != "GivenUp" || b.installed(t, "base") != 0 {
		t.Fatalf("stored %s", b.stored(t, 0))
	}
	if got := b.emitted(); !slices.Equal(got, []string{EventInstalls, EventInstalls, EventGivenUp}) {
		t.Errorf("emitted %q", got)
	}
	b.lead()
	if writes := b.settle(t); len(writes) > 0 || b.Inputs.Installations.Wait(on(0, "base")) != evaluation.WaitGivenUp {
		t.Errorf("the next leader writes %q", writes)
	}
	if _, err := b.round(t, time.Hour); err != nil || b.installed(t, "base") != 1 {
		t.Errorf("after an hour: %v", err)
	}
	if got := b.emitted(); !slices.Equal(got, []string{EventInstalls}) {
		t.Errorf("emitted %q", got)
	}
}

func TestAUnitMayBeRemovedAndInstalledAgain(t *testing.T) {
	b := newBench(t, 1, manual, needing)
	for range 4 {
		b.settle(t)
		if b.installed(t, "base") != 1 {
			t.Fatal("base is not installed")
		}
		b.delete(t, addOn(0, "leaf"))
		b.delete(t, addOn(0, "base"))
		if b.settle(t); b.stored(t, 0) != "" {
			t.Fatalf("stored %s", b.stored(t, 0))
		}
		b.create(t, addOn(0, "leaf"))
	}
	if slices.Contains(b.emitted(), EventGivenUp) {
		t.Error("no other writer has removed what is needed")
	}
}

func TestWhoDeletesTheObjectTakesOver(t *testing.T) {
	b := newBench(t, 1, manual, needing)
	b.settle(t)
	b.delete(t, &dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: on(0, "").Namespace, Name: "base"}})
	b.delete(t, addOn(0, "leaf"))
	for range 3 {
		if writes, err := b.round(t, time.Hour); err != nil || b.installed(t, "base") != 1 {
			t.Errorf("%q %v", writes, err)
		}
	}
}

func TestWhatAnotherWriterHasChangedIsKept(t *testing.T) {
	patch := func(b *bench, patch string) error {
		return b.hub.Patch(t.Context(), addOn(0, "base"), client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("another"))
	}
	for name, change := range map[string]string{
		"its spec":   `{"metadata": {"generation": 2}, "spec": {"configs": [{"name": "x", "resource": "y"}]}}`,
		"its labels": `{"metadata": {"labels": {"a": "b"}}}`,
		"its owner":  `{"metadata": {"labels": {"dependency.addon.open-cluster-management.io/installed-by": null}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 1, manual, needing)
			b.settle(t)
			if err := patch(b, change); err != nil {
				t.Fatal(err)
			}
			b.delete(t, addOn(0, "leaf"))
			for range 3 {
				if _, err := b.round(t, time.Hour); err != nil {
					t.Error(err)
				}
			}
			if b.stored(t, 0) != "Kept" || b.installed(t, "base") != 1 {
				t.Errorf("stored %q", b.stored(t, 0))
			}
		})
	}
}

func TestAnInstallationOfAnotherWriterIsLeftAlone(t *testing.T) {
	b := newBench(t, 1, manual, needing)
	b.create(t, addOn(0, "base"))
	if writes := b.settle(t); len(writes) > 0 || len(b.emitted()) > 0 {
		t.Errorf("wrote %q", writes)
	}
}
