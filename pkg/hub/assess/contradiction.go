package assess

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
)

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
	return &outcome.Contradiction{Message: review.Contradicted.Message(addOn.Name), Known: review.Known}, review.Until, nil
}
