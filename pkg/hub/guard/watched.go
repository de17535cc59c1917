package guard

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"open-cluster-management.io/interlock/pkg/guard"
)

// startWatching watches a kind in the version in which it is written, and in no other.
func (i *Installer) startWatching(ctx context.Context, kind schema.GroupVersionKind) error {
	if i.watched[kind.Kind] == kind.Version {
		return nil
	}
	if err := i.stopWatching(ctx, kind.Kind); err != nil {
		return err
	}
	if err := i.watch(ctx, kind); err != nil {
		return fmt.Errorf("watch %s: %w", kind.Kind, err)
	}
	i.watched[kind.Kind] = kind.Version
	return nil
}

// forgetUnserved stops watching policies in a version that an API server of
// another release no longer has: a watch would ask for it for ever.
func (i *Installer) forgetUnserved(ctx context.Context, served string) error {
	for _, kind := range []string{guard.KindPolicy, guard.KindBinding} {
		if i.watched[kind] != served {
			if err := i.stopWatching(ctx, kind); err != nil {
				return err
			}
		}
	}
	return nil
}

func (i *Installer) stopWatching(ctx context.Context, kind string) error {
	version, there := i.watched[kind]
	if !there {
		return nil
	}
	if err := i.unwatch(ctx, schema.GroupVersionKind{Group: guard.Group, Version: version, Kind: kind}); err != nil {
		return fmt.Errorf("stop watching %s: %w", kind, err)
	}
	delete(i.watched, kind)
	return nil
}
