package ondemand

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/triggertest"
)

func TestItInstallsAndRemoves(t *testing.T) {
	b := newBench(t, 1)
	want := []string{"create AddOnInstallation base", "create ManagedClusterAddOn base", "update AddOnInstallation base"}
	if writes := b.settle(t); !slices.Equal(writes, want) {
		t.Errorf("installed by %q", writes)
	}
	if got := b.stored(t); got != "Installed" {
		t.Errorf("stored %s", got)
	}
	b.delete(t, addOn(0, "leaf"))
	b.settle(t)
	if got := b.stored(t); got != "Unused" {
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
	if b.installed(t) != 0 || b.stored(t) != "" {
		t.Errorf("stored %q after the removal", b.stored(t))
	}
	if got := b.emitted(); !slices.Equal(got, []string{EventInstalls, EventRemoves}) {
		t.Errorf("emitted %q", got)
	}
	if count := testutil.CollectAndCount(b.Metrics.kept.gauge); count != 0 {
		t.Errorf("%d series are left", count)
	}
}

// The first 20 of 100 managed clusters refuse the add-on. They do not count for the bounds of the fleet, and are tried
// again.
func TestARefusalTakesNothingOfTheBounds(t *testing.T) {
	b := newBench(t, 100)
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
		if got := b.installed(t); got != 20*(minute+1) {
			t.Errorf("after %d minutes: %d are installed", minute, got)
		}
	}
	writes, err := b.round(t, time.Minute)
	if err == nil || len(writes) > 0 {
		t.Errorf("a refusal is written again: %d %v", len(writes), err)
	}
	if got := b.stored(t); got != "Installing Refused" {
		t.Errorf("stored %s", got)
	}
	if got := b.Inputs.Installations.Wait(keyOn(0, "base")); got != evaluation.WaitRefused {
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
	if _, err := b.round(t, time.Minute); err != nil || b.installed(t) != 100 {
		t.Errorf("%v, %d are installed", err, b.installed(t))
	}
	if b.settle(t); b.stored(t) != "Installed" || b.Inputs.Installations.Wait(keyOn(0, "base")) != evaluation.WaitForInterlock {
		t.Errorf("stored %s", b.stored(t))
	}
}

// A refused AddOnInstallation does not exist, so the message of its dependent may not depend on it.
func TestARefusedAddOnInstallation(t *testing.T) {
	b := newBench(t, 1)
	b.refuseRecords = true
	b.refuse = func(_ string, key types.NamespacedName) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "addoninstallations"}, key.Name, fmt.Errorf("not in this fleet"))
	}
	if _, err := b.round(t, time.Minute); err == nil || b.stored(t) != "" || b.installed(t) != 0 {
		t.Errorf("%v, stored %q, %d are installed", err, b.stored(t), b.installed(t))
	}
	wait := b.Inputs.Installations.Wait(keyOn(0, "base"))
	got := wait.Explanation("base", "cluster000")
	if wait != evaluation.WaitRefused || !strings.Contains(got, "or else the log of addon-manager") {
		t.Errorf("waits for %s: %s", wait, got)
	}
	b.refuseRecords = false
	b.refuse = func(string, types.NamespacedName) error { return nil }
	if b.settle(t); b.installed(t) != 1 || b.stored(t) != "Installed" {
		t.Errorf("stored %s", b.stored(t))
	}
}

func TestARefusedRemovalIsTriedAgain(t *testing.T) {
	b := newBench(t, 1)
	b.settle(t)
	b.delete(t, addOn(0, "leaf"))
	b.settle(t)
	b.refuse = func(_ string, key types.NamespacedName) error {
		return apierrors.NewForbidden(schema.GroupResource{}, key.Name, fmt.Errorf("protected"))
	}
	if _, err := b.round(t, time.Hour); err == nil || b.stored(t) != "Removing Refused" {
		t.Errorf("%v, stored %s", err, b.stored(t))
	}
	b.refuse = func(string, types.NamespacedName) error { return nil }
	if b.settle(t); b.installed(t) != 0 || b.stored(t) != "" {
		t.Errorf("stored %s", b.stored(t))
	}
}

// Wherever the process ends, the next leader ends where this one would have.
func TestACrashAtAnyWrite(t *testing.T) {
	writes := []string{
		"create AddOnInstallation base", "create ManagedClusterAddOn base", "update AddOnInstallation base", "delete ManagedClusterAddOn base",
		"delete AddOnInstallation base",
	}
	for _, write := range writes {
		for _, moment := range []string{"before ", "after "} {
			t.Run(moment+write, func(t *testing.T) {
				endsAtAnyWrite(t, newBench(t, 1), moment+write)
			})
		}
	}
}

// endsAtAnyWrite installs and removes base. The process ends once, before a write or after it.
func endsAtAnyWrite(t *testing.T, b *bench, write string) {
	t.Helper()
	crashed := 0
	b.crash = func(now string) error {
		if now == write {
			crashed++
			b.crash = func(string) error { return nil }
			return errCrash
		}
		return nil
	}
	run := func(phase time.Duration) {
		for range 5 {
			if _, err := b.round(t, phase); err != nil {
				b.lead()
			}
			phase = time.Second
		}
	}
	run(0)
	if b.installed(t) != 1 || b.stored(t) != "Installed" {
		t.Fatalf("stored %q", b.stored(t))
	}
	crash := b.crash
	b.crash = func(string) error { return nil }
	b.delete(t, addOn(0, "leaf"))
	b.crash = crash
	run(0)
	run(time.Hour)
	run(time.Minute)
	if b.installed(t) != 0 || b.stored(t) != "" || crashed != 1 {
		t.Errorf("stored %q, crashed %d times", b.stored(t), crashed)
	}
}

// A removal by another writer counts even if the cache has not had the add-on yet.
func TestItGivesUpWhereItIsRemovedAtOnce(t *testing.T) {
	b := newBench(t, 1)
	for range 5 {
		if _, err := b.round(t, time.Second); err != nil {
			t.Fatal(err)
		}
		if b.installed(t) == 1 {
			b.delete(t, addOn(0, "base"))
		}
	}
	if got := b.emitted(); !slices.Equal(got, []string{EventInstalls, EventInstalls, EventGivenUp}) {
		t.Errorf("emitted %q", got)
	}
}

// An add-on that is removed twice within an hour is given up, also by the next leader.
func TestItGivesUp(t *testing.T) {
	b := newBench(t, 1)
	b.settle(t)
	for range 2 {
		b.delete(t, addOn(0, "base"))
		b.settle(t)
	}
	if b.stored(t) != "GivenUp" || b.installed(t) != 0 {
		t.Fatalf("stored %s", b.stored(t))
	}
	if got := b.emitted(); !slices.Equal(got, []string{EventInstalls, EventInstalls, EventGivenUp}) {
		t.Errorf("emitted %q", got)
	}
	b.lead()
	if writes := b.settle(t); len(writes) > 0 || b.Inputs.Installations.Wait(keyOn(0, "base")) != evaluation.WaitGivenUp {
		t.Errorf("the next leader writes %q", writes)
	}
	if _, err := b.round(t, time.Hour); err != nil || b.installed(t) != 1 {
		t.Errorf("after an hour: %v", err)
	}
	if got := b.emitted(); !slices.Equal(got, []string{EventInstalls}) {
		t.Errorf("emitted %q", got)
	}
}

func TestAUnitMayBeRemovedAndInstalledAgain(t *testing.T) {
	b := newBench(t, 1)
	for range 4 {
		b.settle(t)
		if b.installed(t) != 1 {
			t.Fatal("base is not installed")
		}
		b.delete(t, addOn(0, "leaf"))
		b.delete(t, addOn(0, "base"))
		if b.settle(t); b.stored(t) != "" {
			t.Fatalf("stored %s", b.stored(t))
		}
		b.create(t, addOn(0, "leaf"))
	}
	if slices.Contains(b.emitted(), EventGivenUp) {
		t.Error("no other writer has removed what is needed")
	}
}

func TestWhoDeletesTheObjectTakesOver(t *testing.T) {
	b := newBench(t, 1)
	b.settle(t)
	b.delete(t, &dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: keyOn(0, "").Namespace, Name: "base"}})
	b.delete(t, addOn(0, "leaf"))
	for range 3 {
		if writes, err := b.round(t, time.Hour); err != nil || b.installed(t) != 1 {
			t.Errorf("%q %v", writes, err)
		}
	}
}

func TestChangesByAnotherWriterAreKept(t *testing.T) {
	patch := func(b *bench, patch string) error {
		return b.hub.Patch(t.Context(), addOn(0, "base"), client.RawPatch(types.MergePatchType, []byte(patch)), client.FieldOwner("another"))
	}
	for name, change := range map[string]string{
		"its spec":   `{"metadata": {"generation": 2}, "spec": {"configs": [{"name": "x", "resource": "y"}]}}`,
		"its labels": `{"metadata": {"labels": {"a": "b"}}}`,
		"its owner":  `{"metadata": {"labels": {"dependency.addon.open-cluster-management.io/installed-by": null}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 1)
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
			if b.stored(t) != "Kept" || b.installed(t) != 1 {
				t.Errorf("stored %q", b.stored(t))
			}
		})
	}
}

func TestAnInstallationOfAnotherWriterIsLeftAlone(t *testing.T) {
	b := newBench(t, 1)
	b.create(t, addOn(0, "base"))
	if writes := b.settle(t); len(writes) > 0 || len(b.emitted()) > 0 {
		t.Errorf("wrote %q", writes)
	}
}

// A change of more than half of the fleet waits, its dependents say so, and an event has the number once that has settled.
func TestAnApprovalIsNeeded(t *testing.T) {
	b := newBench(t, 50)
	b.register(t, consenting(t, "2"), fixture.Specified(t, "leaf", needing))
	b.lead()
	evaluated := triggertest.Enqueued(t, b.Evaluate)
	events := reconcile.Request{NamespacedName: types.NamespacedName{Name: "base"}}
	for _, want := range []int{0, 1, 0} {
		if writes, err := b.round(t, 3*time.Second); err != nil || len(writes) > 0 {
			t.Errorf("wrote %q, %v", writes, err)
		}
		b.clock.SetTime(b.clock.Now().Add(3 * time.Second))
		result, err := b.Reconcile(t.Context(), events)
		if got := b.emitted(); err != nil || len(got) != want || result.RequeueAfter <= 0 {
			t.Errorf("emitted %q, %v, %v", got, result, err)
		}
	}
	if got := b.Inputs.Installations.Wait(keyOn(49, "base")); got != evaluation.WaitForApproval || len(evaluated()) != 50 {
		t.Errorf("waits for %s", got)
	}
	if got := testutil.ToFloat64(b.Metrics.waiting.gauge.WithLabelValues("base", "approval")); got != 50 {
		t.Errorf("%v wait", got)
	}
	b.register(t, consenting(t, "50"), fixture.Specified(t, "leaf", needing))
	if _, err := b.round(t, time.Second); err != nil || b.installed(t) != 20 {
		t.Errorf("%v, installed on %d", err, b.installed(t))
	}
	if result, err := b.Reconcile(t.Context(), events); err != nil || !result.IsZero() || len(evaluated()) == 0 {
		t.Errorf("%v %v", result, err)
	}
}

// Consent is read before each write.
func TestConsentIsReadBeforeEachWrite(t *testing.T) {
	b := newBench(t, 3)
	b.refuse = func(string, types.NamespacedName) error {
		b.refuse = func(string, types.NamespacedName) error { return nil }
		withdrawn := consenting(t, "50")
		withdrawn.Annotations = nil
		stored := withdrawn.DeepCopy()
		if err := b.hub.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
			return err
		}
		stored.Annotations = nil
		return b.hub.Update(t.Context(), stored)
	}
	if _, err := b.round(t, time.Second); err != nil || b.installed(t) != 1 {
		t.Errorf("%v, installed on %d", err, b.installed(t))
	}
}

// A contradiction is detected before an installation begins.
func TestAContradictionIsNotInstalled(t *testing.T) {
	b := newBench(t, 2)
	b.register(t, consenting(t, "50"), fixture.Specified(t, "leaf", needing),
		fixture.Specified(t, "other", "{dependencies: [{name: base, type: Conflicts}]}"))
	b.create(t, addOn(0, "other"))
	b.settle(t)
	if b.installed(t) != 1 || b.stored(t) != "" || b.Inputs.Installations.Wait(keyOn(0, "base")) != evaluation.WaitContradiction {
		t.Errorf("installed on %d, waits for %s", b.installed(t), b.Inputs.Installations.Wait(keyOn(0, "base")))
	}
	b.delete(t, addOn(0, "other"))
	if b.settle(t); b.installed(t) != 2 {
		t.Error("it is not installed once nothing contradicts")
	}
}

// As long as an agent may still report the version, nothing is installed that another add-on may not work with.
func TestAnAwaitedVersionIsNotInstalled(t *testing.T) {
	b := newBench(t, 1)
	b.requested = b.clock.Now()
	registered := consenting(t, "50")
	registered.Annotations[addonv1alpha1.AddOnVersionAnnotation] = "1.0.0"
	b.register(t, registered, fixture.Specified(t, "leaf", needing),
		fixture.Specified(t, "other", `{dependencies: [{name: base, type: IfInstalled, version: ">= 2"}]}`))
	b.create(t, addOn(0, "other"))
	if writes := b.settle(t); len(writes) > 0 {
		t.Errorf("written %q", writes)
	}
	result, err := b.Reconcile(t.Context(), reconcile.Request{NamespacedName: keyOn(0, "base")})
	if err != nil || result.RequeueAfter <= 0 || result.RequeueAfter > time.Minute {
		t.Errorf("looks again after %s, %v", result.RequeueAfter, err)
	}
	b.requested = time.Time{}
	if b.settle(t); b.installed(t) != 0 || b.Inputs.Installations.Wait(keyOn(0, "base")) != evaluation.WaitContradiction {
		t.Errorf("installed on %d, waits for %s", b.installed(t), b.Inputs.Installations.Wait(keyOn(0, "base")))
	}
}
