package fleet

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
)

// loadWaits adds to the cluster what the installations wait for that an add-on needs. Only addon-manager knows it, once it has planned. Before, and
// for any other program, the stored condition of the add-on says it.
func (l Loader) loadWaits(
	ctx context.Context, declared *evaluation.Evaluator, addOn types.NamespacedName, installed func(addOn string) bool, into *evaluation.Cluster,
) error {
	for _, need := range declared.Needs(addOn.Name) {
		if !need.Inputs.Any(input.Installations) || installed(need.Name) {
			continue
		}
		waits, err := l.waits(ctx, addOn, need.Name)
		if err != nil {
			return err
		}
		if waits == evaluation.NoWait {
			continue
		}
		if into.Waits == nil {
			into.Waits = map[string]evaluation.Wait{}
		}
		into.Waits[need.Name] = waits
	}
	return nil
}

// waits returns what the installation of an add-on waits for that another one on the same cluster needs.
func (l Loader) waits(ctx context.Context, dependent types.NamespacedName, addOn string) (evaluation.Wait, error) {
	if l.Waits != nil {
		if waits, known := l.Waits(types.NamespacedName{Namespace: dependent.Namespace, Name: addOn}); known {
			return waits, nil
		}
	}
	found, err := l.Reader.AddOn(ctx, dependent)
	if err != nil || found == nil || Degraded(found) == nil {
		return evaluation.NoWait, err
	}
	return evaluation.WaitIn(Degraded(found).Message, addOn), nil
}
