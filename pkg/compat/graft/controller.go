package graft

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/backoff"
	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
)

// CRDName names the only CRD that is grafted.
const CRDName = "clustermanagementaddons.addon.open-cluster-management.io"

// Settings say whether and how the CRD is grafted.
type Settings struct {
	// On grafts the CRD. Off gives an earlier graft back.
	On bool
	// Keep, without On, grafts the CRD only where a graft or its mark is found. So
	// turning grafting off takes a setting, and a deployment that lacks one changes
	// nothing.
	Keep bool
	// Grace is how long the conversion may fail before the CRD is given back.
	Grace time.Duration
	// Interval is how often the conversion is checked; 0 for the default.
	Interval time.Duration
	// WebhookAddress, [host]:port, is where addon-manager reaches the webhook.
	// Empty: by the webhook's Service, as the API server does.
	WebhookAddress string
}

// defaultInterval is as often as a kubelet probes.
const defaultInterval = 10 * time.Second

// Reconciler grafts the CRD or gives it back. It has a single key. Only Present
// is safe for concurrent use.
type Reconciler struct {
	Settings Settings
	// Client reads and writes the hub without a cache.
	Client   client.Client
	Clock    clock.PassiveClock
	Recorder events.EventRecorder
	Metrics  *Metrics
	// Records fails unless what is declared by field is recorded, so that the CRD may
	// be given back.
	Records func(context.Context) error
	// Changed is called after the fields of the CRD have changed.
	Changed func()
	// Lease is that of the leader election, for MarkAnnotation; empty: there is none.
	Lease client.ObjectKey

	mark       mark
	present    atomic.Bool // whether the CRD has the fields, as last observed
	schemas    schemas
	prober     prober
	overwrites backoff.Delay // of restoring a graft that another writer overwrites
	attempts   backoff.Delay // of conversions that the API server could not use
	history    history
	reported   Reason
}

// decision is the desired CRD and the reason for it.
type decision struct {
	// desired is nil where the CRD stays as it is.
	desired map[string]any
	reason  Reason
	message string
	// again is when to reconcile again without a change; 0: never.
	again time.Duration
}

// Reconcile brings the CRD to what the settings demand and the conversion allows.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	crd, err := readCRD(ctx, r.Client)
	if apierrors.IsNotFound(err) || err == nil && crd.GetDeletionTimestamp() != nil {
		r.report(ctx, nil, decision{reason: ReasonMissing, message: "The hub has no CRD " + CRDName + ": install Open Cluster Management"}, false)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	wanted, err := r.wanted(ctx, crd)
	if err != nil {
		return reconcile.Result{}, err
	}
	decided := r.postponeRemovals(crd, r.delayRestore(crd, r.decide(ctx, crd, wanted)))
	wrote, err := update(ctx, r.Client, crd, decided.desired)
	if apierrors.IsConflict(err) { // another writer was first: read what it wrote
		return reconcile.Result{RequeueAfter: conflictDelay}, nil
	}
	if err != nil {
		decided.reason, decided.message = ReasonWriteFailed, err.Error()
		r.report(ctx, crd, decided, false)
		return reconcile.Result{}, err
	}
	r.remember(decided, wrote)
	present := wanted && r.hasFields(crd, decided, wrote)
	if r.present.Swap(present) != present || wrote {
		r.Changed()
	}
	r.report(ctx, crd, decided, wrote)
	return reconcile.Result{RequeueAfter: decided.again}, nil
}

// Present reports whether grafting is on and the CRD has the fields.
func (r *Reconciler) Present() bool { return r.present.Load() }

const conflictDelay = 50 * time.Millisecond

// decide gives the CRD back where grafting is off and all declarations are recorded.
func (r *Reconciler) decide(ctx context.Context, crd *unstructured.Unstructured, wanted bool) decision {
	if wanted {
		return r.decideOn(ctx, crd)
	}
	err := r.recorded(ctx, crd)
	if err == nil {
		return giveBack(crd, ReasonOff, "Grafting is off")
	}
	decided := r.decideOn(ctx, crd)
	if decided.reason == ReasonGrafted {
		decided.reason, decided.message = ReasonRecordsMissing, "Grafting is off, but the CRD stays grafted: "+err.Error()
		decided.again = recordsInterval
	}
	return decided
}

// recordsInterval is how often records are read again that keep the CRD from being
// given back.
const recordsInterval = 10 * time.Second

// recorded fails where something is declared that would be lost with the graft.
func (r *Reconciler) recorded(ctx context.Context, crd *unstructured.Unstructured) error {
	if !crdgraft.Grafted(crd.Object) {
		return nil
	}
	return r.Records(ctx)
}

// decideOn inspects the CRD, and probes the webhook only where a graft needs it.
func (r *Reconciler) decideOn(ctx context.Context, crd *unstructured.Unstructured) decision {
	survey, err := crdgraft.Inspect(crd.Object, r.schemas.properties)
	if err != nil {
		return decision{reason: ReasonNotGraftable, message: err.Error()}
	}
	lost, err := crdgraft.Lost(survey.Original, r.schemas.known)
	switch {
	case err != nil:
		return decision{reason: ReasonNotGraftable, message: err.Error()}
	case len(survey.Added) == 0 && !equal(conversionOf(crd.Object), conversionOf(survey.Original)):
		// OCM ships its fields together with its conversion, and the conversion is
		// still Interlock's. So another writer changed the schemas. OCM's
		// conversion would lose the fields.
		return decision{reason: ReasonNotGraftable, message: changedMessage(survey.Native)}
	case len(survey.Added) == 0:
		return decision{desired: survey.Original, reason: ReasonNative, message: "Nothing to add: the CRD has " + survey.Native.String()}
	case !survey.Converts:
		return r.put(crd, survey, nil)
	case len(lost) > 0:
		if err := r.recorded(ctx, crd); err != nil {
			return decision{reason: ReasonRecordsMissing, again: recordsInterval, message: newerMessage(lost) +
				". The CRD stays grafted: " + err.Error()}
		}
		return decision{desired: survey.Original, reason: ReasonNewer, message: newerMessage(lost)}
	}
	return r.decideConverted(ctx, crd, survey)
}

// wanted reports whether the CRD is to be grafted, and marks that on the hub. A graft
// that was found once is kept, also where another writer overwrites it later.
func (r *Reconciler) wanted(ctx context.Context, crd *unstructured.Unstructured) (bool, error) {
	marked, err := r.mark.isOn(ctx, r.Client)
	if err != nil {
		return false, err
	}
	wanted := r.Settings.On || r.Settings.Keep && (marked || crdgraft.Grafted(crd.Object))
	return wanted, r.mark.set(ctx, r.Client, wanted)
}

// put decides to graft.
func (r *Reconciler) put(crd *unstructured.Unstructured, survey crdgraft.Survey, conversion map[string]any) decision {
	grafted, err := crdgraft.Graft(crd.Object, crdgraft.Additions{Properties: r.schemas.properties, Conversion: conversion})
	if err != nil {
		return decision{reason: ReasonNotGraftable, message: err.Error()}
	}
	message := "Added " + survey.Added.String()
	if len(survey.Native) > 0 {
		message += "; left as OCM has them: " + survey.Native.String()
	}
	if r.Settings.Keep {
		message += ". Grafting stays on as before: --graft-crds=false gives the CRD back"
	}
	return decision{desired: grafted, reason: ReasonGrafted, message: message}
}

// giveBack decides to restore the CRD as it was found.
func giveBack(crd *unstructured.Unstructured, reason Reason, message string) decision {
	original, err := crdgraft.Remove(crd.Object)
	if err != nil {
		return decision{reason: ReasonNotGraftable, message: err.Error()}
	}
	return decision{desired: original, reason: reason, message: message}
}

// delayRestore delays a graft that another writer keeps overwriting. The first
// time it is restored at once.
func (r *Reconciler) delayRestore(crd *unstructured.Unstructured, decided decision) decision {
	if !r.overwritten(crd, decided) {
		return decided
	}
	if wait := r.overwrites.Wait(r.Clock.Now()); wait > 0 {
		return decision{reason: ReasonContested, again: wait, message: fmt.Sprintf(
			"Another writer keeps overwriting the graft, although the graft is marked as newer. metadata.managedFields names the writer. "+
				"The graft is restored at growing intervals, next in %s", wait.Round(time.Second))}
	}
	return decided
}

// postponeRemovals lets admission count removals of a field only some time after a graft.
func (r *Reconciler) postponeRemovals(crd *unstructured.Unstructured, decided decision) decision {
	if decided.reason != ReasonGrafted || equal(crd.Object, decided.desired) {
		return decided
	}
	now, delay := r.Clock.Now(), staleWriters
	if r.overwritten(crd, decided) && r.overwrites.RepeatedWithin(r.overwrites.Forget, now) {
		delay = r.overwrites.Forget
	}
	crdgraft.PostponeRemovals(decided.desired, now.Add(delay))
	return decided
}

// staleWriters is how long after a graft a writer may write what it read before, when
// the object had no field. Such a write looks as if the field was removed.
const staleWriters = 30 * time.Second

// overwritten reports whether the same graft was written before.
func (r *Reconciler) overwritten(crd *unstructured.Unstructured, decided decision) bool {
	if decided.reason != ReasonGrafted || r.history.written == nil || equal(crd.Object, decided.desired) {
		return false
	}
	return equal(conversionOf(decided.desired), r.history.written)
}

// remember keeps what later decisions need of this one.
func (r *Reconciler) remember(decided decision, wrote bool) {
	if !wrote {
		return
	}
	if decided.reason != ReasonGrafted {
		r.history.written = nil
		return
	}
	conversion := conversionOf(decided.desired)
	if equal(conversion, r.history.written) && r.overwrites.Record(r.Clock.Now()) {
		r.Metrics.Contested()
	}
	if r.history.written == nil {
		r.history.failing, r.history.confirmed = time.Time{}, false
	}
	r.history.written = conversion
}
