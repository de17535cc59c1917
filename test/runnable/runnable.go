// Package runnable runs runnables of a manager in tests.
package runnable

import (
	"context"
	"testing"
	"time"
)

// patience is how long a runnable may take to end.
const patience = time.Minute

// Start calls run until the test ends. It fails the test if run does not end with its context, or returns an error.
func Start(t *testing.T, run func(context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		stop()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("it does not end with its context")
		}
	})
}
