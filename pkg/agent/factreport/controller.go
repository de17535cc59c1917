// Package factreport reports the facts that the hub requests about the managed cluster: which APIs it serves, with which fields, which
// versions of add-ons run, and how many objects of a kind exist. All are fields of the cluster's ManagedClusterFacts: the hub
// writes the requests in spec, the agent reports in status.
package factreport

import (
	"context"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/agent/agentmetrics"
	"open-cluster-management.io/interlock/pkg/agent/leases"
	"open-cluster-management.io/interlock/pkg/agent/objectcount"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/factsobject"
	"open-cluster-management.io/interlock/pkg/kube/apidiscovery"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/pkg/names"
)

// gathering is how long the first report waits for facts that are still missing, so that one write has all of them. A fact that
// takes longer does not delay the others.
const gathering = time.Second

// APIs watches the APIs of the managed cluster; see apidiscovery.Watcher.
type APIs interface {
	Watch(groups map[string]apidiscovery.Fields)
	Group(name string) apidiscovery.Group
}

// Leases watches the versions that leases report; see leases.Watcher.
type Leases interface {
	WatchVersions([]leases.Reference)
	Version(leases.Reference) leases.Version
}

// Objects counts objects on the managed cluster; see objectcount.Counter.
type Objects interface {
	CountOnly(resources []objectcount.Resource)
	Count(resource objectcount.Resource) (objectcount.Count, bool)
}

// Reconciler reports the requested facts of one cluster.
type Reconciler struct {
	Clock   clock.PassiveClock
	Cluster string
	// AgentAddOn is the ManagedClusterAddOn of the agent itself. It is empty if there is none.
	AgentAddOn string
	// Facts caches the cluster's ManagedClusterFacts. The controller waits until it has synced.
	Facts   cache.Cache
	AddOns  client.Reader
	APIs    APIs
	Leases  Leases
	Objects Objects
	Status  client.StatusClient
	Backoff *backoff.Tracker
	Metrics *agentmetrics.Metrics
	// Trigger enqueues the cluster in this controller.
	Trigger *trigger.Trigger

	// requested identifies the request that is being reported on, and has the time when the agent received it.
	requested struct {
		uid        types.UID
		generation int64
		since      time.Time
	}
}

func (r *Reconciler) key() types.NamespacedName { return factsobject.Key(r.Cluster) }

// Reconcile watches the requested resources, and writes the facts about them if they changed.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	facts := &dependencyv1alpha1.ManagedClusterFacts{}
	switch err := r.Facts.Get(ctx, r.key(), facts); {
	case apierrors.IsNotFound(err):
		r.watch(dependencyv1alpha1.ManagedClusterFactsSpec{}, nil)
		r.Backoff.Forget(r.key())
		r.Metrics.ForgetFacts()
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("read ManagedClusterFacts %s: %w", r.key(), err)
	}
	installed, err := r.installed(ctx, facts.Spec)
	if err != nil {
		return reconcile.Result{}, err
	}
	r.watch(facts.Spec, installed)
	status, complete := report(facts, r.observe(facts.Spec, installed))
	if wait := r.gatheringTime(facts); !complete && wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	r.Metrics.FactsReported(status)
	if apiequality.Semantic.DeepEqual(facts.Status, status) {
		return reconcile.Result{}, nil
	}
	if wait := r.Backoff.Wait(r.key(), backoff.Field("status", status)); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return r.write(ctx, facts, status)
}

// installed returns the leases of the requested add-ons that are installed.
func (r *Reconciler) installed(ctx context.Context, requested dependencyv1alpha1.ManagedClusterFactsSpec) ([]leases.Reference, error) {
	var references []leases.Reference
	for _, request := range requested.AddOns {
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		err := r.AddOns.Get(ctx, types.NamespacedName{Namespace: r.Cluster, Name: request.Name}, addOn)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read add-on %s/%s: %w", r.Cluster, request.Name, err)
		}
		references = append(references, leases.ReferenceOf(addOn))
	}
	return references, nil
}

// watch watches the requested APIs and the given leases, and counts the requested objects. It ends all other watches and counts.
func (r *Reconciler) watch(requested dependencyv1alpha1.ManagedClusterFactsSpec, installed []leases.Reference) {
	r.APIs.Watch(apidiscovery.Groups(append(kindsOf(requested.Objects), requested.APIs...)))
	r.Leases.WatchVersions(installed)
	var counted []objectcount.Resource
	for _, kind := range requested.Objects {
		if resource, ok := resourceOf(kind, r.APIs.Group(kind.Group)); ok {
			counted = append(counted, resource)
		}
	}
	r.Objects.CountOnly(counted)
}

// observe returns the current observation of everything that is requested.
func (r *Reconciler) observe(requested dependencyv1alpha1.ManagedClusterFactsSpec, installed []leases.Reference) observation {
	result := observation{
		agentAddOn: r.AgentAddOn,
		groups:     make(map[string]apidiscovery.Group, len(requested.APIs)),
		versions:   make(map[string]leases.Version, len(installed)),
		counts:     make(map[dependencyv1alpha1.ObjectKind]objectcount.Count, len(requested.Objects)),
	}
	for _, api := range requested.APIs {
		result.groups[api.Group] = r.APIs.Group(api.Group)
	}
	for _, lease := range installed {
		result.versions[lease.Name] = r.Leases.Version(lease)
	}
	for _, kind := range requested.Objects {
		result.groups[kind.Group] = r.APIs.Group(kind.Group)
		if resource, ok := resourceOf(kind, result.groups[kind.Group]); ok {
			if count, ok := r.Objects.Count(resource); ok {
				result.counts[kind] = count
			}
		}
	}
	return result
}

// gatheringTime returns how long an incomplete report has to wait for the missing facts.
func (r *Reconciler) gatheringTime(facts *dependencyv1alpha1.ManagedClusterFacts) time.Duration {
	if r.requested.uid != facts.UID || r.requested.generation != facts.Generation {
		r.requested.uid, r.requested.generation, r.requested.since = facts.UID, facts.Generation, r.Clock.Now()
	}
	return gathering - r.Clock.Since(r.requested.since)
}

// write applies the status.
func (r *Reconciler) write(
	ctx context.Context, facts *dependencyv1alpha1.ManagedClusterFacts, status dependencyv1alpha1.ManagedClusterFactsStatus,
) (reconcile.Result, error) {
	configuration, err := factsobject.Configuration(r.key(), facts.UID, "status", &status, emptyStatus(facts))
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	err = r.Status.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(configuration),
		client.FieldOwner(names.AddonAgent), client.ForceOwnership)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		// The object was deleted or replaced since it was read. The watch event of that enqueues it.
		r.Metrics.FactsWrote(agentmetrics.WriteConflict)
		return reconcile.Result{}, nil
	case err != nil:
		r.Metrics.FactsWrote(agentmetrics.WriteError)
		return reconcile.Result{}, fmt.Errorf("write the status of ManagedClusterFacts %s: %w", r.key(), err)
	}
	r.Metrics.FactsWrote(agentmetrics.WriteSuccess)
	contested := r.Backoff.Wrote(r.key(), backoff.Field("status", status))
	log.FromContext(ctx).Info("Facts changed", "generation", status.ObservedGeneration,
		"apisServed", status.APIsServed, "versionsKnown", status.VersionsKnown, "objects", len(status.Objects), "contested", contested)
	return reconcile.Result{}, nil
}

// emptyStatus has every field of a status that JSON omits if it is empty. A CRD of an earlier Interlock has no objects.
func emptyStatus(facts *dependencyv1alpha1.ManagedClusterFacts) map[string]any {
	empty := map[string]any{
		"observedGeneration": int64(0), "agentAddOn": "", "apisServed": "", "versionsKnown": "", "apis": []any{}, "addOns": []any{},
	}
	if len(facts.Status.Objects) > 0 {
		empty["objects"] = []any{}
	}
	return empty
}
