package installation

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestRemovals(t *testing.T) {
	const delay = time.Hour
	type counts struct {
		Now, Kept, Delayed, GivenUp int
		Next                        time.Duration
	}
	// step is a plan, and that it is carried out.
	type step struct {
		at     time.Duration
		unused []Target
		want   counts
	}
	for _, test := range []struct {
		name  string
		steps []step
	}{
		{"nothing", []step{{0, nil, counts{}}}},
		{"not before the delay", []step{
			{0, on("base", 2), counts{Kept: 2, Next: delay}},
			{30 * time.Minute, on("base", 2), counts{Kept: 2, Next: 30 * time.Minute}},
			{delay, on("base", 2), counts{Now: 2}},
		}},
		{"what is used meanwhile is kept for the whole delay", []step{
			{0, on("base", 2), counts{Kept: 2, Next: delay}},
			{30 * time.Minute, on("base", 1), counts{Kept: 1, Next: 30 * time.Minute}},
			{delay, on("base", 2), counts{Now: 1, Kept: 1, Next: delay}},
			{2 * delay, on("base", 2)[1:], counts{Now: 1}},
		}},
		{"twenty clusters a minute", []step{
			{0, on("base", 30), counts{Kept: 30, Next: delay}},
			{delay, on("base", 30), counts{Now: 20, Delayed: 10, Next: time.Minute}},
			{delay + time.Minute, on("base", 30)[20:], counts{Now: 10}},
		}},
		{"what was installed again and removed twice is given up", []step{
			{0, on("base", 1), counts{Kept: 1, Next: delay}},
			{delay, on("base", 1), counts{Now: 1}},
			{delay + time.Minute, on("base", 1), counts{Kept: 1, Next: delay}},
			{2*delay + time.Minute, on("base", 1), counts{Now: 1}},
			{2*delay + 2*time.Minute, on("base", 1), counts{Kept: 1, Next: delay}},
			{3*delay + 2*time.Minute, on("base", 1), counts{Now: 1}}, // the pause of an hour is over
			{3*delay + 3*time.Minute, on("base", 1), counts{Kept: 1, Next: delay}},
			{4*delay + 3*time.Minute, on("base", 1), counts{GivenUp: 1, Next: delay - time.Minute}},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			removals := Removals{Delay: delay}
			for _, step := range test.steps {
				at := now.Add(step.at)
				plan := removals.Make(step.unused, fleetOf(100, nil), at)
				got := counts{Now: len(plan.Now), Kept: len(plan.Kept), Delayed: len(plan.Delayed), GivenUp: len(plan.GivenUp)}
				if !plan.Next.IsZero() {
					got.Next = plan.Next.Sub(at)
				}
				if diff := cmp.Diff(step.want, got); diff != "" {
					t.Errorf("after %s: -want, +got:\n%s", step.at, diff)
				}
				for _, target := range plan.Now {
					removals.Removed(target, at)
				}
			}
		})
	}
}

func TestRemovalsOfMoreThanHalfOfTheFleetWait(t *testing.T) {
	for _, test := range []struct {
		approved, want int
	}{{0, 0}, {29, 0}, {30, 20}} {
		var removals Removals
		plan := removals.Make(on("base", 30), fleetOf(50, map[string]int{"base": test.approved}), now)
		if len(plan.Now) != test.want || (len(plan.Unapproved) > 0) != (test.want == 0) {
			t.Errorf("with %d approved: %d now, unapproved %v", test.approved, len(plan.Now), plan.Unapproved)
		}
	}
}

func TestWhatIsKeptWaitsAgain(t *testing.T) {
	removals := Removals{Delay: time.Hour}
	target := on("base", 1)
	removals.Make(target, fleetOf(10, nil), now)
	due := now.Add(time.Hour)
	if plan := removals.Make(target, fleetOf(10, nil), due); len(plan.Now) != 1 {
		t.Fatalf("got %+v", plan)
	}
	if again := removals.Keep(target[0], due); !again.Equal(due.Add(time.Hour)) {
		t.Errorf("again at %s", again)
	}
	if plan := removals.Make(target, fleetOf(10, nil), due.Add(time.Minute)); len(plan.Kept) != 1 {
		t.Errorf("got %+v", plan)
	}
}

// What another writer has taken over waits for nothing. Whether it still has is read once in a delay.
func TestWhatIsTakenOverIsNotPlanned(t *testing.T) {
	removals := Removals{Delay: time.Hour}
	targets := on("base", 1)
	for _, step := range []struct {
		at                   time.Duration
		unread, taken        bool
		kept, now, untilNext int
	}{
		{0, true, true, 0, 0, 60},
		{30 * time.Minute, false, true, 0, 0, 30},
		{time.Hour, true, true, 0, 0, 60},
		{2 * time.Hour, true, false, 0, 1, 0},
	} {
		at := now.Add(step.at)
		if got := removals.Unread(targets[0], at); got != step.unread {
			t.Errorf("after %s: unread %t", step.at, got)
		}
		if step.unread {
			removals.Read(targets[0], step.taken, time.Time{}, at)
		}
		plan := removals.Make(targets, fleetOf(10, nil), at)
		next := 0
		if !plan.Next.IsZero() {
			next = int(plan.Next.Sub(at).Minutes())
		}
		if len(plan.Kept) != step.kept || len(plan.Now) != step.now || next != step.untilNext {
			t.Errorf("after %s: %+v", step.at, plan)
		}
	}
	if removals.Keep(targets[0], now); !removals.Unread(targets[0], now) {
		t.Error("what is kept after all may be taken over")
	}
}

func TestANewLeaderGoesOn(t *testing.T) {
	const delay = time.Hour
	target := Target{"cluster000", "base"}
	for _, test := range []struct {
		name   string
		marked time.Duration // before now; zero: not marked
		later  bool
		taken  bool
		want   time.Duration
	}{
		{name: "not marked"},
		{name: "marked", marked: 40 * time.Minute, want: 40 * time.Minute},
		{name: "marked before the delay", marked: 90 * time.Minute, want: 90 * time.Minute},
		{name: "marked long ago, so no leader has watched", marked: 2 * delay},
		{name: "marked in the future", marked: -time.Minute},
		{name: "after the first plan, a mark is its own", marked: 40 * time.Minute, later: true},
		{name: "another writer's", marked: 40 * time.Minute, taken: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			removals := Removals{Delay: delay}
			if test.later {
				removals.Make(nil, fleetOf(100, nil), now)
			}
			var marked time.Time
			if test.marked != 0 {
				marked = now.Add(-test.marked)
			}
			removals.Read(target, test.taken, marked, now)
			plan := removals.Make([]Target{target}, fleetOf(100, nil), now)
			want := now.Add(-test.want)
			if test.taken {
				want = time.Time{}
			}
			if since := removals.Since(target); !since.Equal(want) || (len(plan.Now) > 0) != (test.want >= delay) {
				t.Errorf("unused since %s, want %s; removed: %v", since, want, plan.Now)
			}
		})
	}
}
