package stability

import (
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/availability"
)

// entry is a stored condition as a number, or 0 if there is none. Its lowest bit is the time of its last transition,
// one of two. A write always sets the time that the stored condition does not have. This way, a writer that only
// moves the time changes the state each time.
type entry uint8

// memory is addon-agent's memory of the add-on, as a number.
type memory uint8

// recollection is addon-agent's memory of an add-on: the finding that it asserted last, or that it awaits the
// add-on's own health check, and whether the grace period has passed.
type recollection struct {
	asserted          string
	awaiting, overdue bool
}

func (r recollection) String() string {
	switch {
	case r.overdue:
		return "awaited for long"
	case r.awaiting:
		return "awaiting"
	}
	return fmt.Sprintf("asserted %q", r.asserted)
}

var times = [2]metav1.Time{
	metav1.NewTime(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)),
	metav1.NewTime(time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)),
}

// statement is a condition without its time.
type statement struct {
	kind            string
	status          metav1.ConditionStatus
	reason, message string
}

// vocabulary numbers conditions and memories. All worlds share it.
var vocabulary = struct {
	sync.RWMutex
	conditions    []statement
	numbers       map[statement]entry
	recollections []recollection
	memories      map[recollection]memory
}{
	conditions: []statement{{}}, numbers: map[statement]entry{},
	recollections: []recollection{{}}, memories: map[recollection]memory{{}: 0},
}

// entryOf returns the number of the condition.
func entryOf(condition *metav1.Condition) entry {
	if condition == nil {
		return 0
	}
	s := statement{condition.Type, condition.Status, condition.Reason, condition.Message}
	vocabulary.Lock()
	defer vocabulary.Unlock()
	number, ok := vocabulary.numbers[s]
	if !ok {
		number = entry(len(vocabulary.conditions)) << 1
		if number == 0 {
			panic("more conditions than a state has room for")
		}
		vocabulary.conditions = append(vocabulary.conditions, s)
		vocabulary.numbers[s] = number
	}
	if condition.LastTransitionTime.Equal(&times[1]) {
		number |= 1
	}
	return number
}

// condition returns the condition of the number, or nil if the number is 0.
func (e entry) condition() *metav1.Condition {
	if e == 0 {
		return nil
	}
	vocabulary.RLock()
	defer vocabulary.RUnlock()
	s := vocabulary.conditions[e>>1]
	return &metav1.Condition{Type: s.kind, Status: s.status, Reason: s.reason, Message: s.message, LastTransitionTime: times[e&1]}
}

// nextTime returns the time at which the condition is written next.
func (e entry) nextTime() metav1.Time {
	if e == 0 {
		return times[0]
	}
	return times[1-e&1]
}

// set returns the entry after a stock writer has set the condition, with the rules of meta.SetStatusCondition.
func (e entry) set(desired *metav1.Condition) entry {
	written := *desired
	written.LastTransitionTime = e.nextTime()
	if stored := e.condition(); stored != nil && stored.Status == desired.Status {
		written.LastTransitionTime = stored.LastTransitionTime
	}
	return entryOf(&written)
}

func (e entry) String() string {
	c := e.condition()
	if c == nil {
		return "none"
	}
	text := fmt.Sprintf("%s/%s", c.Status, c.Reason)
	if detail := strings.LastIndex(c.Message, "("); detail >= 0 && c.Reason == required {
		text += " " + c.Message[detail:]
	}
	return text
}

func memoryOf(r recollection) memory {
	vocabulary.Lock()
	defer vocabulary.Unlock()
	number, ok := vocabulary.memories[r]
	if !ok {
		number = memory(len(vocabulary.recollections))
		vocabulary.recollections = append(vocabulary.recollections, r)
		vocabulary.memories[r] = number
	}
	return number
}

func (m memory) recollection() recollection {
	vocabulary.RLock()
	defer vocabulary.RUnlock()
	return vocabulary.recollections[m]
}

// inputAt returns the memory in the form of an input to a decision at that time.
func (m memory) inputAt(now time.Time) availability.Memory {
	r := m.recollection()
	result := availability.Memory{Asserted: r.asserted}
	switch {
	case r.overdue:
		result.Awaiting = now.Add(-grace)
	case r.awaiting:
		result.Awaiting = now
	}
	return result
}

// memoryAt returns the number of addon-agent's memory at that time.
func memoryAt(now time.Time, m availability.Memory) memory {
	return memoryOf(recollection{
		asserted: m.Asserted, awaiting: !m.Awaiting.IsZero(), overdue: !m.Awaiting.IsZero() && !now.Before(m.Awaiting.Add(grace)),
	})
}
