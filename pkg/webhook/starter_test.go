package webhook

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

func TestStarterIsReadyOnceTheServerIs(t *testing.T) {
	answer := errors.New("still starting")
	certified := make(chan struct{})
	s := &starter{certified: certified, start: func() healthz.Checker {
		return func(*http.Request) error { return answer }
	}}
	if err := s.check(nil); err == nil {
		t.Error("ready without a certificate")
	}
	close(certified)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.check(nil); !errors.Is(err, answer) {
		t.Errorf("got %v, want the server's own answer", err)
	}
	answer = nil
	if err := s.check(nil); err != nil {
		t.Errorf("not ready: %v", err)
	}
}

func TestStarterStopsWithoutACertificate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &starter{certified: make(chan struct{}), start: func() healthz.Checker {
		t.Error("started without a certificate")
		return healthz.Ping
	}}
	if err := s.Start(ctx); err != nil {
		t.Error(err)
	}
}
