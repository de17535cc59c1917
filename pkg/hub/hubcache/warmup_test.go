package hubcache

import (
	"errors"
	"testing"
)

func TestReadyOnceTheCacheHasSynced(t *testing.T) {
	w := NewWarmup(nil, "")
	if err := w.Check(nil); !errors.Is(err, errNotSynced) {
		t.Errorf("ready before it has synced: %v", err)
	}
	close(w.synced)
	if err := w.Check(nil); err != nil {
		t.Errorf("not ready: %v", err)
	}
}
