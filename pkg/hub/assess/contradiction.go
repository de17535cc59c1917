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

// Contradiction reviews the installation of an add-on against the add-ons on a managed cluster. The review has no result while an input
// is awaited, such as the version that a live agent has to report. The returned time is the time of the next review, or zero.
func (a Assessor) Contradiction(
	ctx context.Context, evaluator *evaluation.Evaluator, addOn types.NamespacedName, now time.Time,
) (outcome.Contradiction, time.Time, error) {
	subject := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: addOn.Namespace, Name: addOn.Name}}
	if templates := evaluator.Install(addOn.Name).Templates; len(templates) == 1 {
		subject = fleet.WithTemplate(subject, templates[0])
	}
	a.Loader.Reader = withAddOn{a.Loader.Reader, subject}
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
		installedAddOn, err := a.Fleet.AddOn(ctx, key)
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

// withAddOn reads a hub as if an add-on were installed.
type withAddOn struct {
	fleet.Reader

	addOn *addonv1alpha1.ManagedClusterAddOn
}

// AddOn implements fleet.Reader.
func (w withAddOn) AddOn(ctx context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error) {
	if key.Namespace == w.addOn.Namespace && key.Name == w.addOn.Name {
		return w.addOn, nil
	}
	return w.Reader.AddOn(ctx, key)
}
