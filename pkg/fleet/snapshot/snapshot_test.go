package snapshot

import (
	"testing"
	"time"
)

func TestSnapshotTimeIsUTC(t *testing.T) {
	taken := time.Date(2026, 8, 1, 12, 5, 0, 0, time.FixedZone("CEST", 2*60*60))
	if got := New(Content{Taken: taken}).Taken.Format(time.RFC3339); got != "2026-08-01T10:05:00Z" {
		t.Errorf("taken %s", got)
	}
}
