package webhook

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// starter starts the server once there is a certificate.
type starter struct {
	certified <-chan struct{}
	// secret holds the certificate.
	secret  types.NamespacedName
	start   func() healthz.Checker
	started atomic.Pointer[healthz.Checker]
}

// Start implements manager.Runnable.
func (s *starter) Start(ctx context.Context) error {
	select {
	case <-s.certified:
	default:
		log.FromContext(ctx).Info("Waiting for the Secret with the certificate", "secret", s.secret)
	}
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
		return fmt.Errorf("there is no certificate yet: it is made once Secret %s exists", s.secret)
	}
	return (*checker)(request)
}
