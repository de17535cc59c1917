package access

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// Reviewer reviews the rights of a viewer.
type Reviewer interface {
	// Allowed reports whether the viewer has a right.
	Allowed(ctx context.Context, right Right) (bool, error)
}

// Denied is the error for a viewer that may see nothing. It names the missing rights.
type Denied struct{ reason string }

// Error implements error.
func (d *Denied) Error() string { return d.reason }

// concurrency is how many rights of a viewer are reviewed at the same time.
const concurrency = 16

// Decide returns the permissions of a viewer on a fleet of these managed clusters. A viewer that may not read all of them gets those whose
// add-ons and whose object the viewer may read. Its error is *Denied, or a failure of a review.
func Decide(ctx context.Context, reviewer Reviewer, clusters []string) (snapshot.Permissions, error) {
	d := decision{reviewer}
	if allowed, err := reviewer.Allowed(ctx, listRegistrations); err != nil || !allowed {
		return snapshot.Permissions{}, orDenied(err, fmt.Sprintf("You may not see the add-ons of this hub: you need the right to %s.", listRegistrations))
	}
	var user snapshot.Permissions
	var addOns, objects bool
	err := d.review(ctx, map[Right]*bool{
		listAddOns: &addOns, listClusters: &objects,
		listConfigs: &user.Configs, listTemplates: &user.Templates, listPlacements: &user.Placements, listDecisions: &user.Decisions,
		listPolicies: &user.Policies, listInstallations: &user.Installations, listFacts: &user.Facts, getOCM: &user.OCM, listLease: &user.Manager,
	})
	if err != nil || addOns && objects {
		return user, err
	}
	if user.Clusters, err = d.clusters(ctx, clusters, addOns, objects); err != nil {
		return user, err
	}
	if len(user.Clusters) == 0 {
		return user, &Denied{fmt.Sprintf("You may see no managed cluster of this hub: you need the right to %s in the namespace of a managed cluster, "+
			"and to %s.", listAddOns, getCluster.named("like the managed cluster"))}
	}
	for right, allowed := range map[Right]*bool{listInstallations: &user.Installations, listFacts: &user.Facts} {
		if *allowed {
			continue
		}
		if *allowed, err = d.everywhere(ctx, right, user.Clusters); err != nil {
			return user, err
		}
	}
	return user, nil
}

func orDenied(err error, reason string) error {
	if err != nil {
		return err
	}
	return &Denied{reason}
}

// decision requests the reviews of a viewer.
type decision struct{ Reviewer }

// review reviews rights at the same time.
func (d decision) review(ctx context.Context, rights map[Right]*bool) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for right, target := range rights {
		group.Go(func() (err error) {
			*target, err = d.Allowed(ctx, right)
			return err
		})
	}
	return group.Wait()
}

// clusters returns the managed clusters that the viewer may see. addOns and objects are whether the viewer may read all add-ons, or the
// objects of all clusters.
func (d decision) clusters(ctx context.Context, all []string, addOns, objects bool) (sets.Set[string], error) {
	var mutex sync.Mutex
	permitted := sets.New[string]()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for _, cluster := range all {
		group.Go(func() error {
			for _, right := range []struct {
				Right

				held bool
			}{{listAddOns.in(cluster), addOns}, {getCluster.named(cluster), objects}} {
				if right.held {
					continue
				}
				if allowed, err := d.Allowed(ctx, right.Right); err != nil || !allowed {
					return err
				}
			}
			mutex.Lock()
			defer mutex.Unlock()
			permitted.Insert(cluster)
			return nil
		})
	}
	return permitted, group.Wait()
}

// everywhere reports whether the viewer has a right in the namespace of each of these managed clusters.
func (d decision) everywhere(ctx context.Context, right Right, clusters sets.Set[string]) (bool, error) {
	allowed := make([]bool, len(clusters))
	rights := map[Right]*bool{}
	for i, cluster := range sets.List(clusters) {
		rights[right.in(cluster)] = &allowed[i]
	}
	if err := d.review(ctx, rights); err != nil {
		return false, err
	}
	for i := range allowed {
		if !allowed[i] {
			return false, nil
		}
	}
	return true, nil
}
