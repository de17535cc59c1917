package assess

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// Contradiction returns what the installation of an add-on would contradict or break on a managed cluster; empty: nothing that is known.
func (a Assessor) Contradiction(
	ctx context.Context, declared *evaluation.Evaluator, addOn types.NamespacedName, now time.Time,
) (string, error) {
	of := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: addOn.Namespace, Name: addOn.Name}}
	if templates := declared.Install(addOn.Name).Templates; len(templates) == 1 {
		of = fleet.WithTemplate(of, templates[0])
	}
	a.Loader.Reader = withAddOn{a.Loader.Reader, of}
	state, err := a.Loader.Load(ctx, declared, addOn, now)
	if err != nil {
		return "", err
	}
	state, known := gate.Installing(declared.Catalog, state, addOn.Name)
	if !known {
		return "", nil
	}
	found, _, err := a.contradiction(ctx, declared, of, state)
	if err != nil || !found.Reviewed {
		return "", err
	}
	return found.Message, nil
}

// contradiction reviews an add-on that OCM has created, and that contradicted installed add-ons then. state is the state that the add-on was
// evaluated in. The returned time is the time of the next review, or zero.
func (a Assessor) contradiction(
	ctx context.Context, declared *evaluation.Evaluator, addOn *addonv1alpha1.ManagedClusterAddOn, state evaluation.State,
) (*outcome.Contradiction, time.Time, error) {
	states := map[string]evaluation.State{addOn.Name: state}
	for _, name := range protection.MayBreak(declared.Catalog, addOn.Name) {
		key := types.NamespacedName{Namespace: addOn.Namespace, Name: name}
		installed, err := a.Fleet.AddOn(ctx, key)
		if err != nil {
			return nil, time.Time{}, err
		}
		if name == addOn.Name || installed == nil || !installed.DeletionTimestamp.IsZero() {
			continue
		}
		loaded, err := a.Loader.Load(ctx, declared, key, state.Cluster.Now)
		if err != nil {
			return nil, time.Time{}, err
		}
		states[name], _ = gate.Installing(declared.Catalog, loaded, addOn.Name) // that it is known was found by its own state
	}
	review := protection.ReviewInstallation(declared, addOn.Name, states)
	return &outcome.Contradiction{Message: review.Contradicted.Message(addOn.Name), Reviewed: review.Known}, review.Until, nil
}

// withAddOn reads a hub as it is once an add-on is installed.
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
