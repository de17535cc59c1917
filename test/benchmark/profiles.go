package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const profiledFor = 15 * time.Second

// profileHeap writes addon-manager's heap profile, if profiles are requested.
func (s *session) profileHeap(ctx context.Context, name string) error {
	if !s.profiles {
		return nil
	}
	return s.profile(ctx, name, "heap", "heap?gc=1")
}

// profileCPU begins to write addon-manager's processor profile, if profiles are requested. The function that it
// returns waits until the profile is written.
func (s *session) profileCPU(ctx context.Context, name string) func() error {
	if !s.profiles {
		return func() error { return nil }
	}
	written := make(chan error, 1)
	go func() {
		written <- s.profile(ctx, name, "cpu", fmt.Sprintf("profile?seconds=%.0f", profiledFor.Seconds()))
	}()
	return func() error { return <-written }
}

func (s *session) profile(ctx context.Context, name, kind, request string) error {
	profile, err := s.manager.Profile(ctx, request)
	if err != nil {
		return fmt.Errorf("profile addon-manager: %w", err)
	}
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return fmt.Errorf("profile addon-manager: %w", err)
	}
	return os.WriteFile(filepath.Join(s.out, fmt.Sprintf("%s-%s.%s.pprof", s.name, name, kind)), profile, 0o644)
}
