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

	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
	"open-cluster-management.io/interlock/pkg/kube/backoff"
)

// CRDName is the name of the only CRD that is grafted.
const CRDName = "clustermanagementaddons.addon.open-cluster-management.io"

// Settings are the settings of the graft.
type Settings struct {
	// Enabled grafts the CRD. If it and Keep are false, an earlier graft is given back.
	Enabled bool
	// Keep grafts the CRD only if there is a graft or its mark already. So
	// turning grafting off needs an explicit setting, and a deployment without the setting changes
	// nothing.
	Keep bool
	// Grace is the time that the conversion may fail before the CRD is given back.
	Grace time.Duration
	// Interval is the interval between checks of the conversion. 0 means the default.
	Interval time.Duration
	// WebhookAddress, [host]:port, is the address of the webhook for addon-manager.
	// If it is empty, addon-manager uses the webhook's Service, like the API server.
	WebhookAddress string
}

// defaultInterval is the same as the interval between a kubelet's probes.
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
	// Records returns an error unless all declarations in fields are recorded. The CRD may be
	// given back only then.
	Records func(context.Context) error
	// Changed is called after the fields of the CRD have changed.
	Changed func()
	// Lease is the lease of the leader election, for MarkAnnotation. It is empty without leader election.
	Lease client.ObjectKey

	mark       mark
	present    atomic.Bool // is true if the CRD was last observed to have the fields
	schemas    schemas
	prober     prober
	overwrites backoff.Delay // delays restoring a graft that another writer overwrites
	attempts   backoff.Delay // delays grafts with a conversion that the API server could not use
	history    history
	reported   Reason
}

// decision is the desired CRD and the reason for it.
type decision struct {
	// desired is nil if the CRD does not change.
	desired map[string]any
	reason  Reason
	message string
	// requeueAfter is the time until the next reconcile. 0 means to wait for a change.
	requeueAfter time.Duration
}

// Reconcile grafts the CRD or gives it back, as the settings demand and the conversion allows.
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
	if apierrors.IsConflict(err) { // another writer was first, so read the CRD again
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
	return reconcile.Result{RequeueAfter: decided.requeueAfter}, nil
}

// Present reports whether grafting is on and the CRD has the fields.
func (r *Reconciler) Present() bool { return r.present.Load() }

const conflictDelay = 50 * time.Millisecond

// decide decides to graft, or to give the CRD back if grafting is off and all declarations are recorded.
func (r *Reconciler) decide(ctx context.Context, crd *unstructured.Unstructured, wanted bool) decision {
	if wanted {
		return r.decideOn(ctx, crd)
	}
	err := r.checkRecords(ctx, crd)
	if err == nil {
		return giveBack(crd, ReasonOff, "Grafting is off")
	}
	decided := r.decideOn(ctx, crd)
	if decided.reason == ReasonGrafted {
		decided.reason, decided.message = ReasonRecordsMissing, "Grafting is off, but the CRD stays grafted: "+err.Error()
		decided.requeueAfter = recordsInterval
	}
	return decided
}

// recordsInterval is the interval between checks of records while missing records keep the CRD from being
// given back.
const recordsInterval = 10 * time.Second

// checkRecords returns an error if a declaration would be lost with the graft.
func (r *Reconciler) checkRecords(ctx context.Context, crd *unstructured.Unstructured) error {
	if !crdgraft.Grafted(crd.Object) {
		return nil
	}
	return r.Records(ctx)
}

// decideOn decides as if grafting is on. It probes the webhook only if a graft needs it.
func (r *Reconciler) decideOn(ctx context.Context, crd *unstructured.Unstructured) decision {
	survey, err := crdgraft.Inspect(crd.Object, r.schemas.properties)
	if err != nil {
		return decision{reason: ReasonNotGraftable, message: err.Error()}
	}
	lost, err := crdgraft.Lost(survey.Original, r.schemas.crd)
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
		return r.graft(crd, survey, nil)
	case len(lost) > 0:
		if err := r.checkRecords(ctx, crd); err != nil {
			return decision{reason: ReasonRecordsMissing, requeueAfter: recordsInterval, message: newerMessage(lost) +
				". The CRD stays grafted: " + err.Error()}
		}
		return decision{desired: survey.Original, reason: ReasonNewer, message: newerMessage(lost)}
	}
	return r.decideConverted(ctx, crd, survey)
}

// wanted reports whether grafting is on, and stores that on the hub as a mark. With the mark, a graft is
// kept even if another writer overwrites it later.
func (r *Reconciler) wanted(ctx context.Context, crd *unstructured.Unstructured) (bool, error) {
	marked, err := r.mark.get(ctx, r.Client)
	if err != nil {
		return false, err
	}
	wanted := r.Settings.Enabled || r.Settings.Keep && (marked || crdgraft.Grafted(crd.Object))
	return wanted, r.mark.set(ctx, r.Client, wanted)
}

// graft decides to graft.
func (r *Reconciler) graft(crd *unstructured.Unstructured, survey crdgraft.Survey, conversion map[string]any) decision {
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

// giveBack decides to remove the graft.
func giveBack(crd *unstructured.Unstructured, reason Reason, message string) decision {
	original, err := crdgraft.Remove(crd.Object)
	if err != nil {
		return decision{reason: ReasonNotGraftable, message: err.Error()}
	}
	return decision{desired: original, reason: reason, message: message}
}

// delayRestore delays a graft that another writer keeps overwriting. The first
// time, it is restored immediately.
func (r *Reconciler) delayRestore(crd *unstructured.Unstructured, decided decision) decision {
	if !r.overwritten(crd, decided) {
		return decided
	}
	if wait := r.overwrites.Wait(r.Clock.Now()); wait > 0 {
		return decision{reason: ReasonContested, requeueAfter: wait, message: fmt.Sprintf(
			"Another writer keeps overwriting the graft, although the graft is marked as newer. metadata.managedFields names the writer. "+
				"The graft is restored at growing intervals, next in %s", wait.Round(time.Second))}
	}
	return decided
}

// postponeRemovals sets the time after a graft from which admission counts removals of a field.
func (r *Reconciler) postponeRemovals(crd *unstructured.Unstructured, decided decision) decision {
	if decided.reason != ReasonGrafted || equal(crd.Object, decided.desired) {
		return decided
	}
	now, delay := r.Clock.Now(), staleWrites
	if r.overwritten(crd, decided) && r.overwrites.RepeatedWithin(r.overwrites.Forget, now) {
		delay = r.overwrites.Forget
	}
	crdgraft.PostponeRemovals(decided.desired, now.Add(delay))
	return decided
}

// staleWrites is the time after a graft during which a writer may write an object that it read
// before the graft. Such an object has no field, so the write looks like a removal.
const staleWrites = 30 * time.Second

// overwritten reports whether the same graft was written before.
func (r *Reconciler) overwritten(crd *unstructured.Unstructured, decided decision) bool {
	if decided.reason != ReasonGrafted || r.history.written == nil || equal(crd.Object, decided.desired) {
		return false
	}
	return equal(conversionOf(decided.desired), r.history.written)
}

// remember updates the history after a write.
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
		r.history.failingSince, r.history.confirmed = time.Time{}, false
	}
	r.history.written = conversion
}
