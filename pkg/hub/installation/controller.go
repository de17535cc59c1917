// Package installation has OCM install add-ons on managed clusters by Placements, because add-ons that are installed there need them and their
// owners agree. It has them removed once none needs them, where all agree to that.
package installation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/lifecycle/approval"
	lifecycle "open-cluster-management.io/interlock/pkg/hub/lifecycle/installation"
	"open-cluster-management.io/interlock/pkg/trigger"
)

// Key is the only key of this controller's queue: what is installed is bounded for the fleet as a whole.
var Key = types.NamespacedName{Name: "installations"}

// gather is how long changes are gathered before something is installed.
const gather = time.Second

// leaving is after how long the dependents that are being deleted are looked at again: one that comes back at once, and needs the same,
// is no change.
const leaving = time.Minute

// Reconciler has add-ons installed.
type Reconciler struct {
	Clock        clock.PassiveClock
	Inputs       hubcache.Inputs
	Declarations *declarations.Store
	Needs        *Needs
	Policies     func(context.Context) ([]dependencyv1alpha1.AddOnDependencyPolicy, error)
	Live         client.Reader
	Writer       client.Client
	Recorder     events.EventRecorder
	Metrics      *lifecycle.Metrics
	// Changed triggers this controller, and Evaluate the one that writes what installations wait for to the conditions of dependents.
	Changed, Evaluate *trigger.Trigger
	// FirstPass ends once this leader has assessed each add-on; nil: it has.
	FirstPass *firstpass.Pass
	// RemovalDelay is how long what is installed has to be unused before it is removed.
	RemovalDelay time.Duration

	history  installation.History
	removals installation.Removals
	// approvals and removalApprovals emit events on what waits for an approval.
	approvals, removalApprovals approval.Events
	// givenUp and givenUpRemovals are the targets that events were emitted on.
	givenUp, givenUpRemovals map[installation.Target]bool
}

// Reconcile installs what is needed now, removes what is not needed any more, and removes what it wrote for managed clusters that are
// gone.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	declared, err := r.Declarations.Wait(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !r.FirstPass.Await(firstpass.Everywhere, r.Changed, Key) {
		return reconcile.Result{}, nil
	}
	now := r.Clock.Now()
	clusters, err := r.clusters(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	placed, err := r.readPlaced(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	needs, recheck, err := r.installable(ctx, declared, clusters, placed)
	if err != nil {
		return reconcile.Result{}, err
	}
	plan := r.history.Make(targets(needs), installation.Fleet{
		Clusters: len(clusters), Approved: func(addOn string) int { return declared.Install(addOn).Approved },
	}, now)
	r.Evaluate.Enqueue(r.planned(plan, needs)...)
	removing, err := r.planRemovals(ctx, declared, clusters, placed, now)
	if err != nil {
		return reconcile.Result{}, err
	}
	again, kept := r.remove(ctx, declared, removing, placed)
	unmarked := r.mark(ctx, placed)
	done, failed := r.install(ctx, declared, plan, placed, clusters)
	r.history.Forget(now)
	again = controllers.Sooner(again, recheck, plan.Next, removing.Next,
		r.report(plan, done, needs, len(clusters)), r.reportRemovals(removing.RemovalPlan, len(clusters)))
	return controllers.At(again, now), errors.Join(kept, unmarked, failed)
}

// install carries out a plan, and returns what is being installed. What fails does not keep the rest from being installed.
func (r *Reconciler) install(
	ctx context.Context, declared *evaluation.Evaluator, plan installation.Plan, placed placements, clusters map[string]*clusterv1.ManagedCluster,
) (done []installation.Target, failed error) {
	var failures []error
	installs := func(target installation.Target) {
		r.history.Installed(target, r.Clock.Now())
		r.Metrics.Installed(target.AddOn)
		done = append(done, target)
	}
	for _, target := range plan.Now {
		placed.add(target)
	}
	placed.keep(func(cluster string) bool { return clusters[cluster] != nil })
	for _, addOn := range declared.AddOns() {
		if declared.Consent(addOn) == catalog.ByPlacement {
			failures = append(failures, r.applyPlaced(ctx, addOn, placed, installs))
		}
	}
	failures = append(failures, r.deleteUnlisted(ctx, declared, placed))
	return done, errors.Join(failures...)
}

// clusters returns the managed clusters that are not being deleted.
func (r *Reconciler) clusters(ctx context.Context) (map[string]*clusterv1.ManagedCluster, error) {
	var list clusterv1.ManagedClusterList
	if err := r.Inputs.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list managed clusters: %w", err)
	}
	clusters := make(map[string]*clusterv1.ManagedCluster, len(list.Items))
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp.IsZero() {
			clusters[list.Items[i].Name] = &list.Items[i]
		}
	}
	return clusters, nil
}

// installable returns what is needed on managed clusters that can be reached, that no policy denies, and to which the owner of the
// add-on consents. What is installed already, or decided, is left out. The history gets to know since when it is asked for. It also
// returns when to look again; zero: not before something changes.
func (r *Reconciler) installable(
	ctx context.Context, declared *evaluation.Evaluator, clusters map[string]*clusterv1.ManagedCluster, placed placements,
) (needs []need, again time.Time, err error) {
	all := r.Needs.all()
	if len(all) == 0 {
		return nil, again, nil
	}
	stated, err := r.Policies(ctx)
	if err != nil {
		return nil, again, err
	}
	policies := policy.Read(stated)
	for _, one := range all {
		if declared.Consent(one.AddOn) != catalog.ByPlacement || placed.has(one.Target) || !r.acts(clusters[one.Cluster], policies) {
			continue
		}
		switch absent, err := r.absent(ctx, declared, one.Target); {
		case err != nil:
			return nil, again, err
		case !absent:
			continue
		}
		asking, since, err := r.asking(ctx, one, placed)
		if err != nil {
			return nil, again, err
		}
		if len(asking) < len(one.dependents) {
			again = r.Clock.Now().Add(leaving)
		}
		if len(asking) > 0 {
			r.history.Asked(one.Target, since)
			needs = append(needs, need{one.Target, asking})
		}
	}
	return needs, again, nil
}

// asking returns the dependents that need an add-on and are not gone or being deleted, and since when the first of them has been there.
// One that Interlock has installed itself is there for those that asked for it, so what counts is since when they have been.
func (r *Reconciler) asking(ctx context.Context, of need, placed placements) (dependents []string, since time.Time, err error) {
	for _, dependent := range of.dependents {
		key := types.NamespacedName{Namespace: of.Cluster, Name: dependent}
		found, err := r.Inputs.AddOn(ctx, key)
		if err != nil {
			return nil, time.Time{}, err
		}
		if found == nil || !found.DeletionTimestamp.IsZero() {
			continue
		}
		from, itself := found.CreationTimestamp.Time, installation.Target{Cluster: of.Cluster, AddOn: dependent}
		if asked := r.history.AskedSince(itself); !asked.IsZero() && placed.has(itself) {
			from = asked
		}
		if len(dependents) == 0 || from.Before(since) {
			since = from
		}
		dependents = append(dependents, dependent)
	}
	return dependents, since, nil
}

// absent reports whether a target is not installed, and OCM is not about to install it because another Placement selects the cluster.
func (r *Reconciler) absent(ctx context.Context, declared *evaluation.Evaluator, target installation.Target) (bool, error) {
	installed, err := r.Inputs.AddOn(ctx, types.NamespacedName{Namespace: target.Cluster, Name: target.AddOn})
	if err != nil || installed != nil {
		return false, err
	}
	selected, read, err := r.selectedByOthers(ctx, declared, target)
	return read && !selected, err
}

// selectedByOthers reports whether a Placement that is not Interlock's selects the cluster of a target, and whether that could be read.
func (r *Reconciler) selectedByOthers(
	ctx context.Context, declared *evaluation.Evaluator, target installation.Target,
) (selected, read bool, err error) {
	others := slices.DeleteFunc(slices.Clone(declared.Install(target.AddOn).Placements), func(placement types.NamespacedName) bool {
		return placement == catalog.OnDemandPlacement(target.AddOn)
	})
	return r.Inputs.Selected(ctx, others, target.Cluster)
}

func targets(needs []need) []installation.Target {
	all := make([]installation.Target, 0, len(needs))
	for _, one := range needs {
		all = append(all, one.Target)
	}
	return all
}
