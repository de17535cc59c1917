package events

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
)

func TestLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recorder := events.NewFakeRecorder(1)
		Later(recorder).Eventf(&corev1.Pod{}, nil, corev1.EventTypeNormal, "Changed", "Change", "%s changed", "it")
		emitted := time.Now()
		if got, want := <-recorder.Events, "Normal Changed it changed"; got != want {
			t.Errorf("want %q, got %q", want, got)
		}
		if waited := time.Since(emitted); waited != delay {
			t.Errorf("emitted after %s", waited)
		}
	})
}
