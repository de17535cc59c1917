package simulator

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Event is a change of an add-on on a cluster.
type Event struct {
	// Offset is the time of the event, from the beginning.
	Offset time.Duration
	AddOn  types.NamespacedName
	Kind   EventKind
}

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	Fails      EventKind = "fails"      // its Available becomes False
	Recovers   EventKind = "recovers"   // its Available becomes True
	Irrelevant EventKind = "irrelevant" // another condition of it changes
	Relabeled  EventKind = "relabeled"  // a label of it changes
)

// Schedule is a sequence of events, in order.
type Schedule []Event

// NewSchedule draws a number of events on the add-ons, evenly spread over the time. The same seed draws the same
// events.
func NewSchedule(seed uint64, addOns []types.NamespacedName, kinds []EventKind, count int, within time.Duration) Schedule {
	random := rand.New(rand.NewPCG(seed, uint64(count)))
	schedule := make(Schedule, count)
	for i := range schedule {
		schedule[i] = Event{
			Offset: time.Duration(i) * within / time.Duration(count),
			AddOn:  addOns[random.IntN(len(addOns))],
			Kind:   kinds[random.IntN(len(kinds))],
		}
	}
	return schedule
}

// Play carries out each event at its time, or as soon after it as earlier events allow. Events on the same add-on
// keep their order.
func (s Schedule) Play(ctx context.Context, happen func(context.Context, Event) error) error {
	started := time.Now()
	lanes := make([]Schedule, writers)
	for _, event := range s {
		lane := laneOf(event.AddOn)
		lanes[lane] = append(lanes[lane], event)
	}
	return forEachItem(ctx, lanes, func(ctx context.Context, lane Schedule) error {
		for _, event := range lane {
			if err := SleepUntil(ctx, started.Add(event.Offset)); err != nil {
				return err
			}
			if err := happen(ctx, event); err != nil {
				return err
			}
		}
		return nil
	})
}

// laneOf keeps the events of an add-on in one lane.
func laneOf(key types.NamespacedName) int {
	sum := uint32(2166136261) // FNV
	for _, letter := range []byte(key.String()) {
		sum = (sum ^ uint32(letter)) * 16777619
	}
	return int(sum % writers)
}

// Last returns the kind of the last event of each add-on, among these kinds.
func (s Schedule) Last(kinds ...EventKind) map[types.NamespacedName]EventKind {
	last := map[types.NamespacedName]EventKind{}
	for _, event := range s {
		if slices.Contains(kinds, event.Kind) {
			last[event.AddOn] = event.Kind
		}
	}
	return last
}

// SleepUntil sleeps until a moment, or until the context ends, which is an error.
func SleepUntil(ctx context.Context, moment time.Time) error {
	timer := time.NewTimer(time.Until(moment))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
