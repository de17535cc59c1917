package graft

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
	"open-cluster-management.io/interlock/pkg/kube/events"
)

// Reason is the reason why the CRD is grafted or not. It is a label of the metric and
// the reason of an event on the CRD.
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
	// ReasonRecordsMissing means that the CRD stays grafted, because declarations would be lost with the graft.
	ReasonRecordsMissing Reason = "CRDRecordsMissing"
)

// Reasons has all reasons.
var Reasons = []Reason{
	ReasonGrafted, ReasonOff, ReasonNative, ReasonNotServed, ReasonContested,
	ReasonNewer, ReasonNotGraftable, ReasonWriteFailed, ReasonMissing, ReasonRecordsMissing,
}

const actionGraft = "GraftCRD"

func newerMessage(lost []string) string {
	return "OCM's CRD has fields or versions that this version of Interlock would lose when it converts: " + strings.Join(lost, ", ") +
		". Update Interlock. Until then declare dependencies by annotation"
}

func changedMessage(fields crdgraft.Fields) string {
	return "Another writer has changed the schema of fields that Interlock added: " + fields.String() +
		". The CRD stays as it is, converted by Interlock. Apply OCM's own CRD, and Interlock grafts it again"
}

// report sets the metric, and emits an event and a log line when the reason
// changes or the CRD was written.
func (r *Reconciler) report(ctx context.Context, crd *unstructured.Unstructured, decided decision, wrote bool) {
	r.Metrics.State(string(decided.reason), r.hasFields(crd, decided, wrote))
	if decided.reason == r.reported && !wrote {
		return
	}
	first := r.reported == ""
	r.reported = decided.reason
	if first && !wrote && decided.reason == ReasonOff { // off, and nothing to give back
		return
	}
	log.FromContext(ctx).Info(decided.message, "crd", CRDName, "reason", decided.reason)
	if crd == nil {
		return
	}
	reference := &corev1.ObjectReference{
		APIVersion: crd.GetAPIVersion(), Kind: crd.GetKind(), Name: crd.GetName(), UID: crd.GetUID(),
	}
	r.Recorder.Eventf(reference, nil, typeOf(decided.reason), string(decided.reason), actionGraft, "%s", events.Note(decided.message))
}

// hasFields reports whether the CRD now has Interlock's fields. The record of
// the graft does not prove it: a writer that merges annotations, such as
// kubectl apply, replaces the versions and keeps the record.
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
