package webhook

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// starter starts the server once there is a certificate for it.
type starter struct {
	certified <-chan struct{}
	start     func() healthz.Checker
	started   atomic.Pointer[healthz.Checker]
}

// Start implements manager.Runnable.
func (s *starter) Start(ctx context.Context) error {
	select {
	case <-s.certified:
		checker := s.start()
		s.started.Store(&checker)
	case <-ctx.Done():
	}
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every replica serves.
func (*starter) NeedLeaderElection() bool { return false }

func (s *starter) check(request *http.Request) error {
	checker := s.started.Load()
	if checker == nil {
		return errors.New("there is no certificate yet")
	}
	return (*checker)(request)
}
