package doctor

import (
	"context"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/manifests"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/leadership"
	"open-cluster-management.io/interlock/pkg/names"
)

// lifecycleName names the webhook configuration of deploy/lifecycle, which shows that the lifecycle is on.
const lifecycleName = "interlock-lifecycle"

var gateRule = admissionRule{
	title: "gate rule", name: names.Gate, files: manifests.Gate, folder: "gate",
	contradicted: begunBehindGates,
	absent: []result{{
		unwell, "The lifecycle is on, and no gate rule is installed: closed gates hold nothing",
		"docs/ordering.md#turn-it-on",
	}},
}

// gates checks, where the lifecycle is on, that gates are closed when add-ons are created, and that closed ones hold.
func gates(ctx context.Context, h *hub) []result {
	configuration, err := h.get(ctx, admission, "v1", "MutatingWebhookConfiguration", client.ObjectKey{Name: lifecycleName})
	switch {
	case err != nil:
		return unread("Whether the lifecycle is on", err)
	case configuration == nil:
		return append(h.leftFinalizers(), h.withoutLifecycle()...)
	case !hasCA(configuration.Object):
		return []result{{unwell, "The API server does not trust the webhook to close gates: its configuration has no CA", h.logs()}}
	}
	return slices.Concat(gateRule.check(ctx, h), h.leaderWithoutLifecycle(ctx), h.longClosed(), h.longDeleted())
}

// leaderWithoutLifecycle reports a leader that opens no gates, so that the webhook closes none.
func (h *hub) leaderWithoutLifecycle(ctx context.Context) []result {
	stored, err := h.lease(ctx)
	if err != nil || stored == nil {
		return nil // the check of the leader reports that
	}
	lease := &coordinationv1.Lease{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, lease); err != nil {
		return unread("Whether the leader runs the lifecycle", err)
	}
	if leadership.Leader(lease, h.now) == "" || leadership.RunsLifecycle(lease, h.now) {
		return nil
	}
	return []result{{
		unwell, "The leader of addon-manager does not run with --lifecycle: no gate is closed, and no add-on is removed in order",
		"docs/ordering.md#turn-it-on",
	}}
}

// withoutLifecycle reports what waits for the lifecycle to be turned on.
func (h *hub) withoutLifecycle() []result {
	var ordered, bundles such
	for _, name := range h.fleet.Declared.AddOns() {
		if h.fleet.Declared.Install(name).Bundle {
			bundles.add(name)
		}
		if gate.Ordered(h.fleet.Declared.Declaration(name)) {
			ordered.add(name)
		}
	}
	closed := h.addOns(fleet.GateClosed)
	switch {
	case closed.count > 0:
		return []result{{
			note, fmt.Sprintf("The lifecycle is off, and gates are closed, which hold nothing: %s", closed),
			"docs/ordering.md#turn-it-off",
		}}
	case ordered.count > 0:
		return []result{{
			note, fmt.Sprintf("The lifecycle is off, so ordering has no effect. Add-ons that declare it: %s", ordered),
			"docs/ordering.md#turn-it-on",
		}}
	case bundles.count > 0:
		return []result{{
			note, fmt.Sprintf("The lifecycle is off, so no component writes Available of bundles: %s", bundles),
			"docs/ordering.md#turn-it-on",
		}}
	}
	return nil
}

// begunBehindGates says where OCM began to install an add-on whose gate was closed.
func begunBehindGates(h *hub) string {
	begun := h.addOns(func(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
		installable := fleet.Installable(addOn)
		return addOn.Annotations[addonv1alpha1.GateAnnotation] == addonv1alpha1.GateClosed && installable != nil && installable.Reason == gate.ReasonBegun
	})
	if begun.count == 0 {
		return ""
	}
	return fmt.Sprintf("add-ons that OCM began to install behind their gates: %s", begun)
}

// longClosed reports add-ons that have waited for longer than is usual.
func (h *hub) longClosed() []result {
	const usual = 15 * time.Minute
	waiting := h.addOns(func(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
		var since *metav1.Condition
		if fleet.GateClosed(addOn) {
			since = fleet.Installable(addOn)
		} else if fleet.WaitingTemplate(addOn) != "" {
			since = fleet.Upgradable(addOn)
		}
		return gate.Waits(since) && h.now.Sub(since.LastTransitionTime.Time) > usual
	})
	if waiting.count == 0 {
		return nil
	}
	return []result{{
		note, fmt.Sprintf("Add-ons that have waited for their dependencies for more than 15 minutes: %s", waiting),
		"kubectl addon why",
	}}
}
