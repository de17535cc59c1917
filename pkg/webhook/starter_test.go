package webhook

import (
	"context"
	"errors"
	"testing"
)

func TestStarterIsReadyOnceTheServerIs(t *testing.T) {
	certified := make(chan struct{})
	s := &starter{certified: certified, start: func() error { return nil }}
	if err := s.check(nil); err == nil {
		t.Error("ready without a certificate")
	}
	close(certified)
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.check(nil); err != nil {
		t.Errorf("not ready: %v", err)
	}
}

func TestStarterReportsThatTheServerDidNotStart(t *testing.T) {
	failure := errors.New("address in use")
	s := &starter{start: func() error { return failure }}
	if err := s.Start(t.Context()); !errors.Is(err, failure) || s.check(nil) == nil {
		t.Errorf("got %v, ready: %v", err, s.check(nil))
	}
}

func TestStarterStopsWithoutACertificate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &starter{certified: make(chan struct{}), start: func() error {
		t.Error("started without a certificate")
		return nil
	}}
	if err := s.Start(ctx); err != nil {
		t.Error(err)
	}
}
