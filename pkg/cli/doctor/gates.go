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
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/kube/leadership"
	"open-cluster-management.io/interlock/pkg/names"
)

// lifecycleName names the webhook configuration of deploy/lifecycle, which shows that the lifecycle is on.
const lifecycleName = "interlock-lifecycle"

var gateRule = admissionRule{
	title: "gate rule", name: names.Gate, files: manifests.Gate, folder: "gate",
	violation: begunBehindGates,
	absent: []result{{
		failed, "The lifecycle is on, and no gate rule is installed: closed gates hold nothing",
		"docs/ordering.md#turn-it-on",
	}},
}

// checkGates checks gates where the lifecycle is on: the webhook closes them when add-ons are created, and a closed gate stops OCM.
func checkGates(ctx context.Context, h *hub) []result {
	configuration, err := h.Object(ctx, admission, "v1", "MutatingWebhookConfiguration", client.ObjectKey{Name: lifecycleName})
	switch {
	case err != nil:
		return unreadable("Whether the lifecycle is on", err)
	case configuration == nil:
		return append(h.leftFinalizers(), h.withoutLifecycle()...)
	case !hasCA(configuration.Object):
		return []result{{failed, "The API server does not trust the webhook to close gates: its configuration has no CA", h.logs()}}
	}
	return slices.Concat(gateRule.check(ctx, h), h.leaderWithoutLifecycle(ctx), h.longClosedGates(), h.longDeletions())
}

// leaderWithoutLifecycle reports a leader that opens no gates, so that the webhook closes none.
func (h *hub) leaderWithoutLifecycle(ctx context.Context) []result {
	stored, err := h.lease(ctx)
	if err != nil || stored == nil {
		return nil // checkLeader reports that.
	}
	lease := &coordinationv1.Lease{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, lease); err != nil {
		return unreadable("Whether the leader runs the lifecycle", err)
	}
	if leadership.Leader(lease, h.now) == "" || leadership.RunsLifecycle(lease, h.now) {
		return nil
	}
	return []result{{
		failed, "The leader of addon-manager does not run with --lifecycle: no gate is closed, and no add-on is removed in order",
		"docs/ordering.md#turn-it-on",
	}}
}

// withoutLifecycle reports add-ons with closed gates, with ordering, and bundles, which have no effect while the lifecycle is off.
func (h *hub) withoutLifecycle() []result {
	var ordered, bundles tally
	for _, name := range h.fleet.Declared.AddOns() {
		if h.fleet.Declared.Install(name).Bundle {
			bundles.add(name)
		}
		if gate.Ordered(h.fleet.Declared.Declaration(name)) {
			ordered.add(name)
		}
	}
	closed := h.tallyAddOns(fleet.GateClosed)
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

// begunBehindGates describes add-ons that OCM began to install although their gates were closed. It is a violation of gateRule.
func begunBehindGates(h *hub) string {
	addOns := h.tallyAddOns(func(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
		installable := fleet.Installable(addOn)
		return addOn.Annotations[addonv1alpha1.GateAnnotation] == addonv1alpha1.GateClosed &&
			installable != nil && installable.Reason == gate.ReasonBegun
	})
	if addOns.count == 0 {
		return ""
	}
	return fmt.Sprintf("add-ons that OCM began to install behind their gates: %s", addOns)
}

// longClosedGates reports add-ons that have waited for longer than is usual.
func (h *hub) longClosedGates() []result {
	const usual = 15 * time.Minute
	waiting := h.tallyAddOns(func(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
		var condition *metav1.Condition
		if fleet.GateClosed(addOn) {
			condition = fleet.Installable(addOn)
		} else if fleet.WaitingTemplate(addOn) != "" {
			condition = fleet.Upgradable(addOn)
		}
		return gate.Waits(condition) && h.now.Sub(condition.LastTransitionTime.Time) > usual
	})
	if waiting.count == 0 {
		return nil
	}
	return []result{{
		note, fmt.Sprintf("Add-ons that have waited for their dependencies for more than 15 minutes: %s", waiting),
		"kubectl addon why",
	}}
}
