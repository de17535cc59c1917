package hub

import (
	"errors"
	"testing"
)

func TestReadyOnceTheCacheHasSynced(t *testing.T) {
	synced := make(chan struct{})
	check := readyOnce(synced)
	if err := check(nil); !errors.Is(err, errNotSynced) {
		t.Errorf("ready before it has synced: %v", err)
	}
	close(synced)
	if err := check(nil); err != nil {
		t.Errorf("not ready: %v", err)
	}
}
