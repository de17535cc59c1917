package stability

import (
	"fmt"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/availability"
)

// entry is a stored condition as a number: 0 where there is none. Its lowest
// bit is the time of its last transition, one of two. The time at which a
// condition is written is always the one that it does not have: a writer that
// does nothing but move the time is so seen to change the state each time.
type entry uint8

// memory is what addon-agent remembers of the add-on, as a number.
type memory uint8

// remembered is what addon-agent remembers: the finding that it asserted last, or
// that it awaits the add-on's own health check, and whether for the grace period.
type remembered struct {
	asserted          string
	awaiting, overdue bool
}

func (r remembered) String() string {
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

// vocabulary numbers conditions and memories; all worlds share it.
var vocabulary = struct {
	sync.RWMutex
	conditions []statement
	numbers    map[statement]entry
	remembered []remembered
	memories   map[remembered]memory
}{
	conditions: []statement{{}}, numbers: map[statement]entry{},
	remembered: []remembered{{}}, memories: map[remembered]memory{{}: 0},
}

// entryOf returns the number of the condition.
func entryOf(condition *metav1.Condition) entry {
	if condition == nil {
		return 0
	}
	s := statement{condition.Type, condition.Status, condition.Reason, condition.Message}
	vocabulary.Lock()
	defer vocabulary.Unlock()
	number, known := vocabulary.numbers[s]
	if !known {
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

// condition returns the condition of the number; nil for none.
func (e entry) condition() *metav1.Condition {
	if e == 0 {
		return nil
	}
	vocabulary.RLock()
	defer vocabulary.RUnlock()
	s := vocabulary.conditions[e>>1]
	return &metav1.Condition{Type: s.kind, Status: s.status, Reason: s.reason, Message: s.message, LastTransitionTime: times[e&1]}
}

// now returns the time at which the condition is written next.
func (e entry) now() metav1.Time {
	if e == 0 {
		return times[0]
	}
	return times[1-e&1]
}

// set returns the entry once a stock writer has set the condition, as
// meta.SetStatusCondition does.
func (e entry) set(desired *metav1.Condition) entry {
	written := *desired
	written.LastTransitionTime = e.now()
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

func memoryOf(r remembered) memory {
	vocabulary.Lock()
	defer vocabulary.Unlock()
	number, known := vocabulary.memories[r]
	if !known {
		number = memory(len(vocabulary.remembered))
		vocabulary.remembered = append(vocabulary.remembered, r)
		vocabulary.memories[r] = number
	}
	return number
}

func (m memory) remembered() remembered {
	vocabulary.RLock()
	defer vocabulary.RUnlock()
	return vocabulary.remembered[m]
}

// at returns the memory as addon-agent has it at that time.
func (m memory) at(now time.Time) availability.Memory {
	r := m.remembered()
	result := availability.Memory{Asserted: r.asserted}
	switch {
	case r.overdue:
		result.Awaiting = now.Add(-grace)
	case r.awaiting:
		result.Awaiting = now
	}
	return result
}

// memoryAt returns the number of what addon-agent has in memory at that time.
func memoryAt(now time.Time, m availability.Memory) memory {
	return memoryOf(remembered{
		asserted: m.Asserted, awaiting: !m.Awaiting.IsZero(), overdue: !m.Awaiting.IsZero() && !now.Before(m.Awaiting.Add(grace)),
	})
}
