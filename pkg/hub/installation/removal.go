package installation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
)

// removing is what is removed of what Interlock has installed, and what is kept.
type removing struct {
	installation.RemovalPlan
	// unused are the targets that no add-on needs.
	unused []installation.Target
}

// usage is where Interlock has add-ons installed, OCM would remove them, and no add-on needs them, or where that is not known yet: because
// their users are not evaluated, or because of what Placements select.
type usage struct{ unused, undecided, unread []installation.Target }

// planRemovals plans what is removed of what Interlock has installed.
func (r *Reconciler) planRemovals(
	ctx context.Context, declared *evaluation.Evaluator, clusters map[string]*clusterv1.ManagedCluster, placed placements, now time.Time,
) (removing, error) {
	removable := installation.Removable(declared.Catalog)
	users := make(map[string][]string, len(removable))
	var found usage
	for _, addOn := range removable {
		users[addOn] = installation.Users(declared.Catalog, addOn)
		if err := r.addUnused(ctx, declared, addOn, users[addOn], placed, &found); err != nil {
			return removing{}, err
		}
	}
	r.Needs.follow(users, slices.Concat(found.unused, found.undecided))
	certain, err := r.certain(ctx, found.unused, clusters)
	if err != nil {
		return removing{}, err
	}
	unknown := slices.Concat(found.undecided, found.unread, r.undeclared(declared, removable, placed))
	awaited, err := r.certain(ctx, unknown, clusters)
	if err != nil {
		return removing{}, err
	}
	r.removals.Delay = r.RemovalDelay
	if err := r.readTaken(ctx, declared, certain, placed, now); err != nil {
		return removing{}, err
	}
	r.removals.Await(awaited)
	plan := r.removals.Make(certain, installation.Fleet{
		Clusters: len(clusters), Approved: func(addOn string) int { return declared.Install(addOn).RemovalApproved },
	}, now)
	return removing{plan, certain}, nil
}

// addUnused adds where an add-on is installed and none of its users is.
func (r *Reconciler) addUnused(
	ctx context.Context, declared *evaluation.Evaluator, addOn string, users []string, placed placements, to *usage,
) error {
	on, unread, err := r.installedBy(ctx, declared, addOn, placed)
	if err != nil {
		return err
	}
	to.unread = append(to.unread, unread...)
	for _, target := range on {
		used, known, err := r.used(ctx, declared, target, users)
		switch {
		case err != nil:
			return err
		case !known:
			to.undecided = append(to.undecided, target)
		case !used:
			to.unused = append(to.unused, target)
		}
	}
	return nil
}

// readTaken reads which targets belong to another writer, so that they are not counted as removals that wait. The cache does not have
// who has written what.
func (r *Reconciler) readTaken(
	ctx context.Context, declared *evaluation.Evaluator, targets []installation.Target, placed placements, now time.Time,
) error {
	for _, target := range targets {
		if !r.removals.Unread(target, now) {
			continue
		}
		found, key := &addonv1alpha1.ManagedClusterAddOn{}, client.ObjectKey{Namespace: target.Cluster, Name: target.AddOn}
		switch err := r.Live.Get(ctx, key, found); {
		case apierrors.IsNotFound(err): // the cache is behind
		case err != nil:
			return fmt.Errorf("read ManagedClusterAddOn %s: %w", key, err)
		default:
			r.removals.Read(target, !stillOurs(declared, found), marked(found, placed), now)
		}
	}
	return nil
}

// stillOurs reports whether no other writer has taken over an add-on that Interlock has installed.
func stillOurs(declared *evaluation.Evaluator, found *addonv1alpha1.ManagedClusterAddOn) bool {
	return declared.Consent(found.Name) == catalog.ByPlacement && !installation.Configured(found.ManagedFields)
}

// installedBy returns where Interlock has an add-on installed, and OCM would remove it. It also returns where that is not known yet.
func (r *Reconciler) installedBy(
	ctx context.Context, declared *evaluation.Evaluator, addOn string, placed placements,
) (on, unread []installation.Target, err error) {
	if declared.Consent(addOn) != catalog.ByPlacement {
		return nil, nil, nil
	}
	keys, err := r.Inputs.Installed(ctx, addOn)
	if err != nil {
		return nil, nil, err
	}
	for _, key := range keys {
		target := installation.Target{Cluster: key.Namespace, AddOn: addOn}
		found, err := r.Inputs.AddOn(ctx, key)
		if err != nil {
			return nil, nil, err
		}
		if found == nil || !found.DeletionTimestamp.IsZero() || !placed.has(target) {
			continue
		}
		switch selected, read, err := r.selectedByOthers(ctx, declared, target); {
		case err != nil:
			return nil, nil, err
		case !read:
			unread = append(unread, target)
		case !selected:
			on = append(on, target)
		}
	}
	return on, unread, nil
}

// used reports whether one of the users of an add-on is on its managed cluster, and uses it there, and whether that is known yet. One that
// is being deleted does.
func (r *Reconciler) used(
	ctx context.Context, declared *evaluation.Evaluator, target installation.Target, users []string,
) (used, known bool, err error) {
	known = true
	for _, user := range users {
		key := types.NamespacedName{Namespace: target.Cluster, Name: user}
		found, err := r.Inputs.AddOn(ctx, key)
		switch {
		case err != nil:
			return false, false, err
		case found == nil || r.Needs.hasReleased(key, target.AddOn):
		case r.Needs.isUndecided(declared, key, target.AddOn):
			known = false
		default:
			return true, true, nil
		}
	}
	return false, known, nil
}

// undeclared returns what is marked of add-ons that none is known to have removed, while AddOnTemplates could not be read yet.
func (r *Reconciler) undeclared(declared *evaluation.Evaluator, removable []string, placed placements) (unknown []installation.Target) {
	if !slices.ContainsFunc(declared.AddOns(), declared.TemplatesUnread) {
		return nil
	}
	for target := range placed.marked() {
		if !slices.Contains(removable, target.AddOn) {
			unknown = append(unknown, target)
		}
	}
	return unknown
}

// certain drops targets on managed clusters that cannot be reached, or where policies deny that Interlock acts.
func (r *Reconciler) certain(
	ctx context.Context, targets []installation.Target, clusters map[string]*clusterv1.ManagedCluster,
) ([]installation.Target, error) {
	if len(targets) == 0 {
		return nil, nil
	}
	stated, err := r.Policies(ctx)
	if err != nil {
		return nil, err
	}
	policies := policy.Read(stated)
	return slices.DeleteFunc(slices.Clone(targets), func(target installation.Target) bool {
		return !r.acts(clusters[target.Cluster], policies)
	}), nil
}

// remove carries out a plan, and returns when what it keeps nevertheless is due again; zero: never. Placements are only changed in
// memory; install writes them. What fails does not keep the rest from being removed.
func (r *Reconciler) remove(
	ctx context.Context, declared *evaluation.Evaluator, plan removing, placed placements,
) (again time.Time, failed error) {
	var failures []error
	for _, target := range plan.Now {
		now := r.Clock.Now()
		found, err := r.confirm(ctx, declared, target)
		switch {
		case err != nil:
			failures = append(failures, err)
		case found == nil:
			again = controllers.Sooner(again, r.removals.Keep(target, now))
		default:
			placed.drop(target)
		}
	}
	return again, errors.Join(failures...)
}

// confirm reads from the API server what is on a managed cluster, and what it declares: caches may be behind. It returns the add-on to
// remove; nil if it is to be kept, also because a policy denies it meanwhile.
func (r *Reconciler) confirm(
	ctx context.Context, declared *evaluation.Evaluator, target installation.Target,
) (found *addonv1alpha1.ManagedClusterAddOn, err error) {
	var all addonv1alpha1.ManagedClusterAddOnList
	if err := r.Live.List(ctx, &all, client.InNamespace(target.Cluster)); err != nil {
		return nil, fmt.Errorf("list add-ons on managed cluster %s: %w", target.Cluster, err)
	}
	for i := range all.Items {
		one := &all.Items[i]
		if one.Name == target.AddOn {
			found = one
			continue
		}
		current, err := declarations.Current(ctx, r.Live, declared, one.Name)
		if err != nil || !current {
			return nil, err
		}
		if installation.MayUse(declared.Catalog, one.Name, target.AddOn) && !r.Needs.hasReleased(client.ObjectKeyFromObject(one), target.AddOn) {
			return nil, nil
		}
	}
	if found == nil || !found.DeletionTimestamp.IsZero() || !stillOurs(declared, found) {
		return nil, nil
	}
	acts, err := r.actsNow(ctx, target.Cluster)
	if err != nil || !acts {
		return nil, err
	}
	return found, nil
}
