package status

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/status"
	"open-cluster-management.io/interlock/pkg/hub/assess"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
)

// confirm reports whether the API server has what a decision rests on, where the decision could not be taken back: different watches fill
// the caches of declarations and of add-ons. If not, the catalog that follows triggers another decision.
func (r *Reconciler) confirm(ctx context.Context, is *assessed, decision status.Decision) (confirmed bool, err error) {
	confirmed = true
	degraded := decision.Condition(addonv1alpha1.ManagedClusterAddOnConditionDegraded)
	if degraded != nil && len(is.found.Findings) == 0 {
		variant := is.declared.Variant(is.key.Name, is.state)
		confirmed, err = r.undeclared.confirm(ctx, r.Live, is.key.Name, variant, is.at)
	}
	if confirmed && err == nil && decision.Open {
		confirmed, err = r.confirmGate(ctx, is)
	}
	if confirmed && err == nil && releases(decision) {
		confirmed, err = r.confirmUpgrade(ctx, is)
	}
	return confirmed, err
}

// confirmGate reads what the add-on declares, and the AddOnTemplate that Open Cluster Management is about to install.
func (r *Reconciler) confirmGate(ctx context.Context, is *assessed) (bool, error) {
	registered, err := declarations.Current(ctx, r.Live, is.declared, is.key.Name)
	if err != nil || !registered {
		return false, err
	}
	return declarations.CurrentTemplate(ctx, r.Live, is.declared, assess.Chosen(is.addOn))
}

// confirmUpgrade reads the AddOnTemplate that is let go.
func (r *Reconciler) confirmUpgrade(ctx context.Context, is *assessed) (bool, error) {
	exists, err := declarations.TemplateExists(ctx, r.Live, is.stored.Waiting)
	if err != nil || !exists {
		return false, err
	}
	return declarations.CurrentTemplate(ctx, r.Live, is.declared, is.stored.Waiting)
}

// releases reports whether an AddOnTemplate is let go because all that it requires is satisfied.
func releases(decision status.Decision) bool {
	upgradable := decision.Condition(addonv1alpha1.ManagedClusterAddOnConditionUpgradable)
	return upgradable != nil && upgradable.Status == metav1.ConditionTrue && upgradable.Reason == gate.ReasonSatisfied
}
