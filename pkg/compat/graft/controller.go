// Package graft puts Interlock's fields into the CRD of
// ClusterManagementAddOns as it is found on the hub, together with a
// conversion that keeps them, watches that they stay, and gives the CRD back.
// What the CRD is to look like is decided by pkg/compat/crdgraft; when, here. See
// docs/decisions/crd-grafting.md.
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
)

// CRDName names the only CRD that is grafted.
const CRDName = "clustermanagementaddons.addon.open-cluster-management.io"

// Settings say whether and how the CRD is grafted.
type Settings struct {
	// On: grafted. Otherwise what was grafted before is given back.
	On bool
	// Grace is how long the conversion may fail before the CRD is given back.
	Grace time.Duration
	// Interval is how often the conversion is checked; 0 for the default.
	Interval time.Duration
	// WebhookAddress, [host]:port, is where the webhook is reached from here;
	// empty: by its Service, as the API server does.
	WebhookAddress string
}

// defaultInterval is as often as a kubelet probes.
const defaultInterval = 10 * time.Second

// Reconciler grafts the CRD or gives it back. It has a single key and is not
// safe for concurrent use.
type Reconciler struct {
	Settings Settings
	// Client reads the hub itself, no cache.
	Client   client.Client
	Clock    clock.PassiveClock
	Recorder events.EventRecorder
	Metrics  *Metrics
	// Rereader is told of what is written, and of what comes to be known.
	Rereader *Rereader

	present    atomic.Bool // the fields, as far as is known
	schemas    schemas
	prober     prober
	overwrites pace // of putting back what somebody else overwrote
	attempts   pace // of conversions that the API server could not use
	history    history
	told       Reason
}

// decision is what is to become of the CRD, and why.
type decision struct {
	// desired is the CRD as it should be; nil: as it is.
	desired map[string]any
	reason  Reason
	message string
	// again is when to look again though nothing changes; 0: never.
	again time.Duration
}

// Reconcile brings the CRD to what the settings ask for and the conversion allows.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	crd, err := readCRD(ctx, r.Client)
	if apierrors.IsNotFound(err) || err == nil && crd.GetDeletionTimestamp() != nil {
		r.report(ctx, nil, decision{reason: ReasonMissing, message: "The hub has no CRD " + CRDName + ": install Open Cluster Management"}, false)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	decided := r.paceOverwrites(crd, r.decide(ctx, crd))
	if decided.desired != nil && !r.hasFields(crd, decided, true) {
		r.present.Store(false) // before it is so
	}
	wrote, err := update(ctx, r.Client, crd, decided.desired)
	if apierrors.IsConflict(err) { // somebody was faster; what they wrote has to be read
		return reconcile.Result{RequeueAfter: conflictPause}, nil
	}
	if err != nil {
		decided.reason, decided.message = ReasonWriteFailed, err.Error()
		r.report(ctx, crd, decided, false)
		return reconcile.Result{}, err
	}
	r.remember(decided, wrote)
	if wrote {
		r.Rereader.Changed()
	}
	if now := r.hasFields(crd, decided, wrote); r.present.Swap(now) != now {
		r.Rereader.tell()
	}
	r.report(ctx, crd, decided, wrote)
	return reconcile.Result{RequeueAfter: decided.again}, nil
}

// Hidden reports whether what add-ons declare by field cannot be read, or what
// was read of it may be incomplete.
func (r *Reconciler) Hidden() bool {
	return r.Settings.On && (!r.present.Load() || r.Rereader.Stale())
}

const conflictPause = 50 * time.Millisecond

// decide looks at the CRD, and asks the webhook only where it is needed.
func (r *Reconciler) decide(ctx context.Context, crd *unstructured.Unstructured) decision {
	if !r.Settings.On {
		return giveBack(crd, ReasonOff, "Grafting is off")
	}
	survey, err := crdgraft.Inspect(crd.Object, r.schemas.properties)
	if err != nil {
		return decision{reason: ReasonNotGraftable, message: err.Error()}
	}
	unknown, err := crdgraft.Compare(survey.Original, r.schemas.known)
	switch {
	case err != nil:
		return decision{reason: ReasonNotGraftable, message: err.Error()}
	case len(survey.Added) == 0 && !equal(conversionOf(crd.Object), conversionOf(survey.Original)):
		// Not OCM's: its conversion, which would be put back and loses them, has not come with them.
		return decision{reason: ReasonNotGraftable, message: changedMessage(survey.Native)}
	case len(survey.Added) == 0:
		return decision{desired: survey.Original, reason: ReasonNative, message: "Nothing to add: the CRD has " + survey.Native.String()}
	case !survey.Converts:
		return r.put(crd, survey, nil)
	case len(unknown.Lost) > 0:
		return decision{desired: survey.Original, reason: ReasonNewer, message: newerMessage(unknown.Lost)}
	}
	return r.decideConverted(ctx, crd, survey, unknown)
}

// put is the decision to graft.
func (r *Reconciler) put(crd *unstructured.Unstructured, survey crdgraft.Survey, conversion map[string]any) decision {
	grafted, err := crdgraft.Graft(crd.Object, crdgraft.Additions{Properties: r.schemas.properties, Conversion: conversion})
	if err != nil {
		return decision{reason: ReasonNotGraftable, message: err.Error()}
	}
	message := "Added " + survey.Added.String()
	if len(survey.Native) > 0 {
		message += "; left as OCM has them: " + survey.Native.String()
	}
	return decision{desired: grafted, reason: ReasonGrafted, message: message}
}

// giveBack is the decision to have the CRD as it was found.
func giveBack(crd *unstructured.Unstructured, reason Reason, message string) decision {
	original, err := crdgraft.Remove(crd.Object)
	if err != nil {
		return decision{reason: ReasonNotGraftable, message: err.Error()}
	}
	return decision{desired: original, reason: reason, message: message}
}

// paceOverwrites delays a graft that somebody else has just overwritten, and
// not for the first time.
func (r *Reconciler) paceOverwrites(crd *unstructured.Unstructured, decided decision) decision {
	if !r.overwritten(crd, decided) {
		return decided
	}
	if wait := r.overwrites.wait(r.Clock.Now()); wait > 0 {
		return decision{reason: ReasonContested, again: wait, message: fmt.Sprintf(
			"Another writer keeps overwriting the graft, although it is marked as newer; metadata.managedFields names it. "+
				"It is put back at growing intervals, next in %s", wait.Round(time.Second))}
	}
	return decided
}

// overwritten reports whether the graft that is to be written was written
// before as it is.
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
	if equal(conversion, r.history.written) && r.overwrites.did(r.Clock.Now()) {
		r.Metrics.Contested()
	}
	if r.history.written == nil {
		r.history.failing, r.history.confirmed = time.Time{}, false
	}
	r.history.written = conversion
}
