package protection

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/factsobject"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

// factsByAgents returns the facts of managed clusters. They are read once, when they are first needed.
func (v *fleetReviewer) factsByAgents(ctx context.Context, now time.Time) func(cluster string) (evaluation.Facts, error) {
	read := sync.OnceValues(func() (map[string]evaluation.Facts, error) { return v.mayReport(ctx, now) })
	return func(cluster string) (evaluation.Facts, error) {
		all, err := read()
		return all[cluster], err
	}
}

// mayReport returns the facts of the managed clusters that have an agent, or are about to have one: it may report any, so
// that verdicts on them are held. An agent need not be installed as an add-on, but each that runs has reported soon
// after the hub requested anything. A cluster that is left out has no agent.
func (v *fleetReviewer) mayReport(ctx context.Context, now time.Time) (map[string]evaluation.Facts, error) {
	var objects dependencyv1alpha1.ManagedClusterFactsList
	switch err := v.live.List(ctx, &objects, fromCache()); {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err): // there is no agent
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("list ManagedClusterFacts: %w", err)
	}
	facts := map[string]evaluation.Facts{}
	for i := range objects.Items {
		object := &objects.Items[i]
		switch cluster := object.Namespace; {
		case factsobject.Key(cluster).Name != object.Name:
		case unreported(object):
			facts[cluster] = evaluation.Facts{Requested: fleet.RequestedAt(object)}
		default:
			facts[cluster] = awaited(now)
		}
	}
	installed, err := v.where(ctx, names.AgentAddOn)
	for _, cluster := range installed {
		facts[cluster] = awaited(now)
	}
	return facts, err
}
