package settings

import (
	"testing"
	"time"
)

// Each step continues with the record as the annotation stores it, as a new leader does.
func TestUndone(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 500, time.UTC)
	var record Undone
	for _, step := range []struct {
		reason    string
		age       time.Duration
		undone    bool
		until     time.Duration
		wantCount int
	}{
		{"another request is no change of another writer", 0, false, 0, 0},
		{"it is put back once", 0, true, 0, 1},
		{"another request in between keeps the count", 10 * time.Minute, false, 0, 1},
		{"the second time within an hour, it is given up", 30 * time.Minute, true, 90 * time.Minute, 2},
		{"after an hour, the same change is put back", 90 * time.Minute, true, 0, 2},
		{"undone again, it is given up for two hours", 100 * time.Minute, true, 220 * time.Minute, 3},
		{"after the pause, another request is written, which ends the pause too", 221 * time.Minute, false, 0, 3},
		{"undone again, it is given up for four hours", 230 * time.Minute, true, 470 * time.Minute, 4},
		{"a pause that ended long ago does not count", 26 * time.Hour, true, 0, 1},
		{"settings that lasted for more than an hour do not count", 28 * time.Hour, true, 0, 1},
		{"without a change, an old record is dropped", 30 * time.Hour, false, 0, 0},
	} {
		now := start.Add(step.age)
		if until := record.GivenUp(now); !until.IsZero() {
			t.Errorf("%s: it is still given up until %s", step.reason, until)
		}
		record = ReadWritten(Written{Undone: record.Next(now, step.undone)}.String()).Undone
		until, want := record.GivenUp(now), time.Time{}
		if step.until > 0 {
			want = start.Truncate(time.Second).Add(step.until)
		}
		if !until.Equal(want) || record.Count != step.wantCount {
			t.Errorf("%s: until %s, want %s, %+v", step.reason, until, want, record)
		}
	}
}

func TestAForeignRecordIsIgnored(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for reason, record := range map[string]Undone{
		"an endless pause":      {Count: 2, Last: now, Again: now.AddDate(1, 0, 0)},
		"a time far ahead":      {Count: 2, Last: now.AddDate(1, 0, 0)},
		"a count that is wrong": {Count: -5, Last: now, Again: now.Add(time.Minute)},
	} {
		if until := record.GivenUp(now); !until.IsZero() {
			t.Errorf("%s: given up until %s", reason, until)
		}
		if next := record.Next(now, true); next != (Undone{Count: 1, Last: now}) {
			t.Errorf("%s: %+v", reason, next)
		}
	}
	if skewed := (Undone{Count: 7, Last: now, Again: now.Add(24*time.Hour + time.Minute)}); skewed.GivenUp(now).IsZero() {
		t.Error("a leader whose clock is a minute behind puts settings back")
	}
}
