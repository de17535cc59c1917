package snapshot

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// examplesAtATime is the number of managed clusters that are read at the same time.
const examplesAtATime = 8

// Examples reads declarations, and the add-ons, ManagedClusters and AddOnInstallations of a few managed clusters. The snapshot has no
// other inputs of verdicts, so it can suggest next steps, and cannot evaluate.
func Examples(ctx context.Context, hub client.Reader, clusters []string) (*Snapshot, error) {
	whole := &taking{hub: hub, content: &Content{Taken: time.Now()}}
	if err := whole.registrations(ctx); err != nil {
		return nil, err
	}
	evaluator, err := whole.declarations(ctx, nil)
	if err != nil {
		return nil, err
	}
	parts := make([]*taking, len(clusters))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(examplesAtATime)
	for i, cluster := range clusters {
		content := *whole.content
		part := &taking{hub: hub, namespace: cluster, content: &content, unread: newUnread(evaluator)}
		parts[i] = part
		group.Go(func() error {
			return errors.Join(part.addOns(groupCtx), part.clusters(groupCtx), part.consents(groupCtx, evaluator))
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, part := range parts {
		whole.content.AddOns = append(whole.content.AddOns, part.content.AddOns...)
		whole.content.Clusters = append(whole.content.Clusters, part.content.Clusters...)
		whole.content.Installations = append(whole.content.Installations, part.content.Installations...)
		whole.content.Placements, whole.content.PlacementsRead = part.content.Placements, part.content.PlacementsRead
	}
	return New(*whole.content), nil
}
