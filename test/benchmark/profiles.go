package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const profiledFor = 15 * time.Second

// profileHeap writes what addon-manager has on its heap, if that is wanted.
func (s *session) profileHeap(ctx context.Context, of string) error {
	if !s.profiles {
		return nil
	}
	return s.profile(ctx, of, "heap", "heap?gc=1")
}

// profileCPU begins to write what addon-manager's processor time goes to, if
// that is wanted; the function it returns waits until that is done.
func (s *session) profileCPU(ctx context.Context, of string) (wait func() error) {
	if !s.profiles {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() {
		done <- s.profile(ctx, of, "cpu", fmt.Sprintf("profile?seconds=%.0f", profiledFor.Seconds()))
	}()
	return func() error { return <-done }
}

func (s *session) profile(ctx context.Context, of, kind, request string) error {
	profile, err := s.manager.Profile(ctx, request)
	if err != nil {
		return fmt.Errorf("profile addon-manager: %w", err)
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return fmt.Errorf("profile addon-manager: %w", err)
	}
	return os.WriteFile(filepath.Join(s.out, fmt.Sprintf("%s-%s.%s.pprof", s.name, of, kind)), profile, 0o644)
}
