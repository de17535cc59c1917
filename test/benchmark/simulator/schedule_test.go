package simulator

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

func someAddOns() []types.NamespacedName {
	return append(KeysOn([]string{"cluster1", "cluster2", "cluster3"}, "a"), KeysOn([]string{"cluster1", "cluster2"}, "b")...)
}

func TestScheduleIsTheSameForTheSameSeed(t *testing.T) {
	kinds := []EventKind{Fails, Recovers}
	draw := func(seed uint64) Schedule { return NewSchedule(seed, someAddOns(), kinds, 200, time.Second) }
	if diff := cmp.Diff(draw(1), draw(1)); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(draw(1), draw(2)) {
		t.Error("another seed draws the same")
	}
	for i, event := range draw(1) {
		if want := time.Duration(i) * 5 * time.Millisecond; event.Offset != want {
			t.Fatalf("event %d is at %s, want %s", i, event.Offset, want)
		}
	}
}

func TestPlayKeepsTheOrderOfEachAddOn(t *testing.T) {
	schedule := NewSchedule(3, someAddOns(), []EventKind{Fails, Recovers, Irrelevant}, 500, 10*time.Millisecond)
	want := map[types.NamespacedName][]EventKind{}
	for _, event := range schedule {
		want[event.AddOn] = append(want[event.AddOn], event.Kind)
	}
	var mutex sync.Mutex
	got := map[types.NamespacedName][]EventKind{}
	err := schedule.Play(t.Context(), func(_ context.Context, event Event) error {
		mutex.Lock()
		defer mutex.Unlock()
		got[event.AddOn] = append(got[event.AddOn], event.Kind)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPlayEndsWithTheFirstFailure(t *testing.T) {
	failure := errors.New("it does not work")
	schedule := NewSchedule(1, someAddOns(), []EventKind{Fails}, 50, time.Hour)
	if err := schedule.Play(t.Context(), func(context.Context, Event) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
}

func TestLast(t *testing.T) {
	first, second := KeysOn([]string{"cluster1"}, "a")[0], KeysOn([]string{"cluster2"}, "a")[0]
	schedule := Schedule{
		{AddOn: first, Kind: Fails}, {AddOn: second, Kind: Fails}, {AddOn: first, Kind: Recovers}, {AddOn: second, Kind: Irrelevant},
	}
	want := map[types.NamespacedName]EventKind{first: Recovers, second: Fails}
	if diff := cmp.Diff(want, schedule.Last(Fails, Recovers)); diff != "" {
		t.Error(diff)
	}
}
