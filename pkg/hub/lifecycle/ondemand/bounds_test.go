package ondemand

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

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

func TestTurns(t *testing.T) {
	var turns turns
	cluster, addOn := types.NamespacedName{Namespace: "cluster1"}, types.NamespacedName{Name: "base"}
	if !turns.take(cluster) || turns.take(cluster, addOn) {
		t.Error("two keys have the same turn")
	}
	if !turns.take(addOn) {
		t.Error("a key that did not get all of its turns has taken one")
	}
	turns.release(cluster, addOn)
	if !turns.take(cluster, addOn) {
		t.Error("released turns are taken")
	}
}
