package ondemand

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestBoundsOfTheFleet(t *testing.T) {
	now := fixture.Now.Time
	var bounds fleetBounds
	reserve := func(cluster string, want time.Duration) {
		t.Helper()
		got := bounds.reserve(cluster, 10, now)
		if want == 0 != got.IsZero() || want != 0 && got.Sub(now) != want {
			t.Errorf("%s may begin at %v, want after %s", cluster, got, want)
		}
	}
	for i := range clustersAMinute - 1 {
		reserve(fmt.Sprint(i), 0)
		bounds.begin(fmt.Sprint(i), now)
	}
	now = now.Add(10 * time.Second)
	reserve("0", 0) // it counts already
	reserve("refused", 0)
	reserve("another", reservedRetry)
	bounds.release("refused")
	reserve("another", 0)
	bounds.begin("another", now)
	bounds.release("another") // it counts for a minute
	reserve("refused", 50*time.Second)
	now = now.Add(50 * time.Second)
	reserve("refused", 0)
}

// A slot that ends while another change begins on its managed cluster is not free.
func TestASlotThatEndsWhileAChangeBegins(t *testing.T) {
	now := fixture.Now.Time
	var bounds fleetBounds
	for i := range clustersAMinute {
		bounds.reserve(fmt.Sprint(i), 10, now)
		bounds.begin(fmt.Sprint(i), now)
	}
	for i := range clustersAMinute {
		if next := bounds.reserve(fmt.Sprint(i), 10, now.Add(59*time.Second)); !next.IsZero() {
			t.Fatalf("a further change on %d may begin at %s", i, next)
		}
	}
	if bounds.reserve("another", 10, now.Add(time.Minute)).IsZero() {
		t.Error("a change begins although all slots are about to be taken again")
	}
}

func TestANewLeaderCountsChangesOfTheFormerOne(t *testing.T) {
	now := fixture.Now.Time
	var installations []dependencyv1alpha1.AddOnInstallation
	for i := range clustersAMinute {
		stored := dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprint(i), Name: "base"}}
		stored.Status.Phase, stored.Status.Since = dependencyv1alpha1.PhaseInstalled, &metav1.Time{Time: now.Add(-time.Second)}
		installations = append(installations, stored)
	}
	older := installations[0] // another add-on on the same managed cluster
	older.Status.Since = &metav1.Time{Time: now.Add(-30 * time.Second)}
	installations[1].Status.Since = &metav1.Time{Time: now.Add(time.Hour)}
	var bounds fleetBounds
	bounds.restore(append(installations, older), now)
	if next := bounds.reserve("another", 10, now); next.Sub(now) != 59*time.Second {
		t.Errorf("another change may begin at %s", next)
	}
	if next := bounds.reserve("another", 10, now.Add(59*time.Second)); !next.IsZero() {
		t.Errorf("a minute later, another change may begin at %s", next)
	}
}

func TestFivePercentOfALargeFleet(t *testing.T) {
	var bounds fleetBounds
	var begun atomic.Int32
	var group sync.WaitGroup
	for i := range 1000 {
		group.Go(func() {
			if cluster := fmt.Sprint(i); bounds.reserve(cluster, 1000, fixture.Now.Time).IsZero() {
				begun.Add(1)
				bounds.begin(cluster, fixture.Now.Time)
			}
		})
	}
	group.Wait()
	if begun.Load() != 50 {
		t.Errorf("begun on %d clusters", begun.Load())
	}
}

func TestKeysThatExcludeEachOther(t *testing.T) {
	var progress inProgress
	cluster, addOn := types.NamespacedName{Namespace: "cluster1"}, types.NamespacedName{Name: "base"}
	first, second := types.NamespacedName{Namespace: "cluster1", Name: "a"}, types.NamespacedName{Namespace: "cluster1", Name: "b"}
	if !progress.begin(first, cluster) || progress.begin(second, cluster, addOn) {
		t.Error("two add-ons on a managed cluster are decided on at the same time")
	}
	if progress.postponed.Has(first) || !progress.postponed.Has(second) {
		t.Errorf("postponed: %v", progress.postponed)
	}
	if !progress.begin(first, addOn) {
		t.Error("a postponed key has made one of its keys busy")
	}
	progress.end(cluster, addOn)
	if !progress.begin(second, cluster, addOn) || progress.postponed.Has(second) {
		t.Error("keys stay busy after the end")
	}
}
