package ondemand

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
)

// follow publishes the wait of an add-on for messages of its dependents, for metrics, and for events about approvals.
// refused is true if the API server has refused the last step.
func (r *Reconciler) follow(s *subject, decision installation.Decision, refused bool) {
	installs, removes := waitsFor(s, decision, refused)
	if r.Inputs.Installations.Set(s.key, waits[installs]) {
		r.Evaluate.Enqueue(s.dependents...)
	}
	r.Metrics.waiting.set(s.key, installs)
	r.Metrics.kept.set(s.key, removes)
	changed := r.installations.set(s.key, installs == forApproval)
	if r.removals.set(s.key, removes == forApproval) || changed {
		r.Changed.EnqueueAfter(gather, types.NamespacedName{Name: s.key.Name})
	}
}

// waits has the waits that messages of dependents explain, by the label value of the metric. Other waits are short.
var waits = map[string]evaluation.Wait{
	forApproval:      evaluation.WaitForApproval,
	forContradiction: evaluation.WaitContradiction,
	forGivenUp:       evaluation.WaitGivenUp,
	forRefused:       evaluation.WaitRefused,
	forPlacement:     evaluation.WaitForPlacement,
}

// waitsFor returns the reason for which the installation of an add-on waits, and the reason for its removal.
func waitsFor(s *subject, decision installation.Decision, refused bool) (installs, removes string) {
	wait := map[installation.Blocker]string{
		installation.NeedsApproval:    forApproval,
		installation.Delayed:          forBudget,
		installation.Contradiction:    forContradiction,
		installation.GivenUpForAWhile: forGivenUp,
		installation.NeedsPlacement:   forPlacement,
	}[decision.Blocker]
	if refused {
		wait = forRefused
	}
	switch {
	case s.AddOn == nil:
		return wait, ""
	case wait == "" && decision.Desired != nil && decision.Desired.Phase == dependencyv1alpha1.PhaseUnused:
		return "", forDelay
	}
	return "", wait
}

// reportApprovals emits the events about approvals of an add-on. It returns the time of the next report.
func (r *Reconciler) reportApprovals(ctx context.Context, evaluator *evaluation.Evaluator, addOn string, now time.Time) (time.Time, error) {
	var waiting changes
	if r.installations.contains(addOn) || r.removals.contains(addOn) {
		counted, err := r.changes(ctx, addOn, now)
		if err != nil {
			return time.Time{}, err
		}
		waiting = counted
	}
	if !r.installations.contains(addOn) {
		waiting.installations = 0
	}
	if !r.removals.contains(addOn) {
		waiting.removals = 0
	}
	clusters, err := r.clusterCount(ctx, now)
	if err != nil {
		return time.Time{}, err
	}
	install := evaluator.Install(addOn)
	return controllers.Sooner(r.InstallationEvents.Report(addOn, waiting.installations, clusters, install),
		r.RemovalEvents.Report(addOn, waiting.removals, clusters, install)), nil
}

// clustersByAddOn has managed clusters by add-on. It is safe for concurrent use.
type clustersByAddOn struct {
	mutex    sync.Mutex
	clusters map[string]sets.Set[string]
}

// set adds or removes a managed cluster. It returns false without a change.
func (c *clustersByAddOn) set(addOn types.NamespacedName, member bool) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	clusters := c.clusters[addOn.Name]
	if clusters.Has(addOn.Namespace) == member {
		return false
	}
	if !member {
		if clusters.Delete(addOn.Namespace).Len() == 0 {
			delete(c.clusters, addOn.Name)
		}
		return true
	}
	if clusters == nil {
		if c.clusters == nil {
			c.clusters = map[string]sets.Set[string]{}
		}
		clusters = sets.New[string]()
		c.clusters[addOn.Name] = clusters
	}
	clusters.Insert(addOn.Namespace)
	return true
}

// contains reports whether an add-on has any managed cluster.
func (c *clustersByAddOn) contains(addOn string) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.clusters[addOn].Len() > 0
}
