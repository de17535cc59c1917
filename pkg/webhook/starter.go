package webhook

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// starter starts the server once there is a certificate.
type starter struct {
	// certified closes once there is a certificate. It is nil if the certificate exists from the start.
	certified <-chan struct{}
	// secret is the Secret of the certificate.
	secret  types.NamespacedName
	start   func() error
	started atomic.Bool
}

// Start implements manager.Runnable.
func (s *starter) Start(ctx context.Context) error {
	if !s.hasCertificate() {
		log.FromContext(ctx).Info("Waiting for the Secret with the certificate", "secret", s.secret)
		select {
		case <-s.certified:
		case <-ctx.Done():
			return nil
		}
	}
	if err := s.start(); err != nil {
		return err
	}
	s.started.Store(true)
	return nil
}

func (s *starter) hasCertificate() bool {
	select {
	case <-s.certified:
		return true
	default:
		return s.certified == nil
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: every replica serves.
func (*starter) NeedLeaderElection() bool { return false }

// check makes no connection, because a replica that is busy has to stay in the Service.
// The process ends when the server does.
func (s *starter) check(*http.Request) error {
	if !s.started.Load() {
		return fmt.Errorf("there is no certificate yet: it is made once Secret %s exists", s.secret)
	}
	return nil
}
