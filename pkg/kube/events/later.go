package events

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
)

const delay = time.Second

// Later returns a recorder that emits events a second later. The change of a condition
// often changes other conditions. Without the delay, the event would be written before
// those conditions, and delay them by as long as another condition would.
func Later(recorder events.EventRecorder) events.EventRecorder { return later{recorder} }

type later struct{ events.EventRecorder }

// Eventf implements events.EventRecorder.
func (l later) Eventf(regarding, related runtime.Object, eventType, reason, action, note string, args ...any) {
	time.AfterFunc(delay, func() {
		l.EventRecorder.Eventf(regarding, related, eventType, reason, action, note, args...)
	})
}
