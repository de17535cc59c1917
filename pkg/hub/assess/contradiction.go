package assess

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/dependency/status"
)

// contradiction returns what an add-on contradicts that OCM has created, and that contradicted installed add-ons then. state is that of the
// add-on. until is when to look again without a cause; zero: never.
func (a Assessor) contradiction(
	ctx context.Context, declared *evaluation.Evaluator, addOn *addonv1alpha1.ManagedClusterAddOn, state evaluation.State,
) (found *status.Contradiction, until time.Time, err error) {
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
	return &status.Contradiction{Message: review.Contradicted.Message(addOn.Name), Known: review.Known}, review.Until, nil
}
