package graft

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/pkg/crdgraft"
	"open-cluster-management.io/interlock/pkg/events"
)

// Reason says why the CRD is grafted or not. It is a label of the metric and,
// where there is a CRD, the reason of an event on it.
type Reason string

// The reasons.
const (
	ReasonGrafted      Reason = "CRDGrafted"
	ReasonOff          Reason = "CRDGraftingOff"
	ReasonNative       Reason = "CRDHasFields"
	ReasonNotServed    Reason = "CRDConversionNotServed"
	ReasonContested    Reason = "CRDGraftContested"
	ReasonNewer        Reason = "CRDNewerThanInterlock"
	ReasonNotGraftable Reason = "CRDNotGraftable"
	ReasonWriteFailed  Reason = "CRDWriteFailed"
	ReasonMissing      Reason = "CRDMissing"
)

// Reasons are all reasons.
var Reasons = []Reason{
	ReasonGrafted, ReasonOff, ReasonNative, ReasonNotServed, ReasonContested,
	ReasonNewer, ReasonNotGraftable, ReasonWriteFailed, ReasonMissing,
}

const actionGraft = "GraftCRD"

func newerMessage(unknown []string) string {
	return "OCM's CRD has what this version of Interlock would lose when it converts: " + strings.Join(unknown, ", ") +
		". Update Interlock; until then declare dependencies by annotation"
}

func changedMessage(fields crdgraft.Fields) string {
	return "Somebody has changed the schema of fields since they were added: " + fields.String() +
		". The CRD is left as it is, converted by Interlock. Apply OCM's own CRD to have it grafted anew"
}

// report tells the metric what holds now, and people what is new.
func (r *Reconciler) report(ctx context.Context, crd *unstructured.Unstructured, decided decision, wrote bool) {
	r.Metrics.State(string(decided.reason), r.hasFields(crd, decided, wrote))
	if decided.reason == r.told && !wrote {
		return
	}
	unchanged := !wrote && r.told == "" && decided.reason == ReasonOff
	r.told = decided.reason
	if unchanged { // off, and it was
		return
	}
	log.FromContext(ctx).Info(decided.message, "crd", CRDName, "reason", decided.reason)
	if crd == nil {
		return
	}
	about := &corev1.ObjectReference{
		APIVersion: crd.GetAPIVersion(), Kind: crd.GetKind(), Name: crd.GetName(), UID: crd.GetUID(),
	}
	r.Recorder.Eventf(about, nil, typeOf(decided.reason), string(decided.reason), actionGraft, "%s", events.Note(decided.message))
}

// hasFields reports whether the CRD now has Interlock's fields. The record of
// the graft alone does not say so: whoever merges annotations, as kubectl apply
// does, leaves it on a CRD whose versions they replace.
func (r *Reconciler) hasFields(crd *unstructured.Unstructured, decided decision, wrote bool) bool {
	if crd == nil {
		return false
	}
	object := crd.Object
	if wrote {
		object = decided.desired
	}
	return (decided.reason == ReasonNative || crdgraft.Grafted(object)) && crdgraft.HasFields(object, r.schemas.properties)
}

func typeOf(reason Reason) string {
	switch reason {
	case ReasonGrafted, ReasonOff, ReasonNative:
		return corev1.EventTypeNormal
	default:
		return corev1.EventTypeWarning
	}
}
