package assess

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// Contradiction reviews the installation of an add-on against the add-ons on a managed cluster. awaited has the add-ons that OCM is about to
// install there, which count as installed. The review has no result while an input is awaited, such as the version that a live agent has to
// report. The returned time is the time of the next review, or zero.
func (a Assessor) Contradiction(
	ctx context.Context, evaluator *evaluation.Evaluator, addOn types.NamespacedName, awaited []string, now time.Time,
) (outcome.Contradiction, time.Time, error) {
	subject := planned(evaluator, addOn)
	installed := map[types.NamespacedName]*addonv1alpha1.ManagedClusterAddOn{addOn: subject}
	for _, name := range awaited {
		key := types.NamespacedName{Namespace: addOn.Namespace, Name: name}
		installed[key] = planned(evaluator, key)
	}
	a.Loader.Reader = withAddOns{a.Loader.Reader, installed}
	state, err := a.Loader.Load(ctx, evaluator, addOn, now)
	if err != nil {
		return outcome.Contradiction{}, time.Time{}, err
	}
	state, ok := gate.Installing(evaluator.Catalog, state, addOn.Name)
	if !ok { // its declaration is known only after OCM has chosen one of its AddOnTemplates
		return outcome.Contradiction{Reviewed: true}, time.Time{}, nil
	}
	contradiction, next, err := a.contradiction(ctx, evaluator, subject, state)
	if err != nil {
		return outcome.Contradiction{}, time.Time{}, err
	}
	return *contradiction, next, nil
}

// contradiction reviews an add-on that contradicted installed add-ons when it was created. state is the state in which the add-on was
// evaluated. The returned time is the time of the next review, or zero.
func (a Assessor) contradiction(
	ctx context.Context, evaluator *evaluation.Evaluator, addOn *addonv1alpha1.ManagedClusterAddOn, state evaluation.State,
) (*outcome.Contradiction, time.Time, error) {
	states := map[string]evaluation.State{addOn.Name: state}
	for _, name := range protection.MayBreak(evaluator.Catalog, addOn.Name) {
		key := types.NamespacedName{Namespace: addOn.Namespace, Name: name}
		installedAddOn, err := a.Loader.Reader.AddOn(ctx, key)
		if err != nil {
			return nil, time.Time{}, err
		}
		if name == addOn.Name || installedAddOn == nil || !installedAddOn.DeletionTimestamp.IsZero() {
			continue
		}
		loaded, err := a.Loader.Load(ctx, evaluator, key, state.Cluster.Now)
		if err != nil {
			return nil, time.Time{}, err
		}
		states[name], _ = gate.Installing(evaluator.Catalog, loaded, addOn.Name) // the state of the add-on itself has shown that the inputs are known
	}
	review := protection.ReviewInstallation(evaluator, addOn.Name, states)
	return &outcome.Contradiction{Message: review.Contradicted.Message(addOn.Name), Reviewed: review.Known}, review.Until, nil
}

// planned returns an add-on as it is after its installation. If OCM chooses between several AddOnTemplates, it has none yet.
func planned(evaluator *evaluation.Evaluator, addOn types.NamespacedName) *addonv1alpha1.ManagedClusterAddOn {
	installed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: addOn.Namespace, Name: addOn.Name}}
	if templates := evaluator.Install(addOn.Name).Templates; len(templates) == 1 {
		installed = fleet.WithTemplate(installed, templates[0])
	}
	return installed
}

// withAddOns reads a hub as if more add-ons were installed.
type withAddOns struct {
	fleet.Reader

	planned map[types.NamespacedName]*addonv1alpha1.ManagedClusterAddOn
}

// AddOn implements fleet.Reader.
func (w withAddOns) AddOn(ctx context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error) {
	addOn, err := w.Reader.AddOn(ctx, key)
	if planned := w.planned[key]; err == nil && addOn == nil && planned != nil {
		return planned, nil
	}
	return addOn, err
}
