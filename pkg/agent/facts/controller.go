// Package facts answers what the hub asks about the managed cluster: which APIs
// it serves and which versions of add-ons run, in the ManagedClusterFacts of
// the cluster.
package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/agent/leases"
	"open-cluster-management.io/interlock/pkg/agent/metrics"
	"open-cluster-management.io/interlock/pkg/agent/served"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/backoff"
)

// FieldManager is the name under which addon-agent owns the status.
const FieldManager = "interlock-addon-agent"

// gathering is how long the first answers wait for the others, so that one
// write tells of all of them, and for no longer: who does not answer holds up
// nobody.
const gathering = time.Second

// Questions is where the hub's questions are read.
type Questions interface {
	Get(types.NamespacedName) *dependencyv1alpha1.ManagedClusterFacts
}

// APIs is what is known of the managed cluster's APIs; see package served.
type APIs interface {
	Follow(groups map[string]bool)
	Group(name string) served.Group
}

// Leases is what is known of the versions that run; see package leases.
type Leases interface {
	ObserveVersion(leases.Reference) leases.Version
	ForgetVersion(name string)
}

// Reconciler answers all questions about one cluster.
type Reconciler struct {
	Clock   clock.PassiveClock
	Cluster string
	// AddOn is the ManagedClusterAddOn that the agent itself is; empty where it is none.
	AddOn      string
	Questions  Questions
	AddOns     client.Reader
	APIs       APIs
	Leases     Leases
	Status     client.StatusClient
	Contention *backoff.Tracker
	Metrics    *metrics.Metrics

	// observed are the add-ons whose version is observed.
	observed map[string]bool
	// asked is which questions are being answered, and since when.
	asked struct {
		by         types.UID
		generation int64
		since      time.Time
	}
}

// Reconcile answers what is asked now, and writes the answers if they changed.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	facts := r.Questions.Get(r.key())
	if facts == nil {
		r.follow(dependencyv1alpha1.ManagedClusterFactsSpec{})
		r.Contention.Forget(r.key())
		r.Metrics.FactsGone()
		return reconcile.Result{}, nil
	}
	r.follow(facts.Spec)
	addOns, err := r.installed(ctx, facts.Spec)
	if err != nil {
		return reconcile.Result{}, err
	}
	status, complete := answer(facts, found{agent: r.AddOn, group: r.APIs.Group, version: r.versions(addOns)})
	if wait := r.gather(facts); !complete && wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	r.Metrics.FactsFound(status)
	if apiequality.Semantic.DeepEqual(facts.Status, status) {
		return reconcile.Result{}, nil
	}
	if wait := r.Contention.Wait(r.key(), claim(status)); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return r.write(ctx, facts, status)
}

func (r *Reconciler) key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Cluster, Name: r.Cluster}
}

// follow has what is asked for observed, and nothing else.
func (r *Reconciler) follow(asked dependencyv1alpha1.ManagedClusterFactsSpec) {
	groups := map[string]bool{}
	for _, api := range asked.APIs {
		groups[api.Group] = true
	}
	r.APIs.Follow(groups)
	addOns := map[string]bool{}
	for _, addOn := range asked.AddOns {
		addOns[addOn.Name] = true
	}
	for name := range r.observed {
		if !addOns[name] {
			r.Leases.ForgetVersion(name)
		}
	}
	r.observed = addOns
}

// installed returns where the leases are of those add-ons asked about that the
// hub has for this cluster.
func (r *Reconciler) installed(ctx context.Context, asked dependencyv1alpha1.ManagedClusterFactsSpec) (map[string]leases.Reference, error) {
	references := map[string]leases.Reference{}
	for _, question := range asked.AddOns {
		addOn := &addonv1alpha1.ManagedClusterAddOn{}
		err := r.AddOns.Get(ctx, types.NamespacedName{Namespace: r.Cluster, Name: question.Name}, addOn)
		switch {
		case apierrors.IsNotFound(err):
			r.Leases.ForgetVersion(question.Name)
		case err != nil:
			return nil, fmt.Errorf("read add-on %s/%s: %w", r.Cluster, question.Name, err)
		default:
			references[question.Name] = leases.Of(addOn)
		}
	}
	return references, nil
}

func (r *Reconciler) versions(addOns map[string]leases.Reference) func(string) (leases.Version, bool) {
	return func(addOn string) (leases.Version, bool) {
		reference, installed := addOns[addOn]
		if !installed {
			return leases.Version{}, false
		}
		return r.Leases.ObserveVersion(reference), true
	}
}

// gather returns how long an answer that is not complete is to wait.
func (r *Reconciler) gather(facts *dependencyv1alpha1.ManagedClusterFacts) time.Duration {
	if r.asked.by != facts.UID || r.asked.generation != facts.Generation {
		r.asked.by, r.asked.generation, r.asked.since = facts.UID, facts.Generation, r.Clock.Now()
	}
	return gathering - r.Clock.Since(r.asked.since)
}

// write applies the status.
func (r *Reconciler) write(
	ctx context.Context, facts *dependencyv1alpha1.ManagedClusterFacts, status dependencyv1alpha1.ManagedClusterFactsStatus,
) (reconcile.Result, error) {
	configuration, err := configurationOf(facts, status)
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	err = r.Status.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(configuration),
		client.FieldOwner(FieldManager), client.ForceOwnership)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsConflict(err):
		// Deleted since it was read, or another one by now: that is an event of its own.
		r.Metrics.FactsWrote(metrics.WriteConflict)
		return reconcile.Result{}, nil
	case err != nil:
		r.Metrics.FactsWrote(metrics.WriteError)
		return reconcile.Result{}, fmt.Errorf("write the facts of cluster %s: %w", r.Cluster, err)
	}
	r.Metrics.FactsWrote(metrics.WriteSuccess)
	contested := r.Contention.Wrote(r.key(), claim(status))
	log.FromContext(ctx).Info("Facts changed", "generation", status.ObservedGeneration,
		"apisServed", status.APIsServed, "versionsKnown", status.VersionsKnown, "contested", contested)
	return reconcile.Result{}, nil
}

// configurationOf is the whole status, empty lists spelled out: what somebody
// else put there goes, whoever owns it.
func configurationOf(
	facts *dependencyv1alpha1.ManagedClusterFacts, status dependencyv1alpha1.ManagedClusterFactsStatus,
) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&status)
	if err != nil {
		return nil, fmt.Errorf("convert the status of ManagedClusterFacts: %w", err)
	}
	for name, empty := range map[string]any{
		"observedGeneration": int64(0), "agentAddOn": "", "apisServed": "", "versionsKnown": "", "apis": []any{}, "addOns": []any{},
	} {
		if _, there := fields[name]; !there {
			fields[name] = empty
		}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": dependencyv1alpha1.GroupVersion.String(),
		"kind":       dependencyv1alpha1.Kind.Kind,
		"metadata":   map[string]any{"namespace": facts.Namespace, "name": facts.Name, "uid": string(facts.UID)},
		"status":     fields,
	}}, nil
}

// claim makes of a status what a tracker of conditions can compare.
func claim(status dependencyv1alpha1.ManagedClusterFactsStatus) metav1.Condition {
	text, err := json.Marshal(status)
	if err != nil {
		return metav1.Condition{}
	}
	return metav1.Condition{Message: string(text)}
}
