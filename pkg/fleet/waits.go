package fleet

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
)

// loadWaits adds to the cluster what the installations wait for that an add-on needs.
func (l Loader) loadWaits(
	ctx context.Context, declared *evaluation.Evaluator, addOn types.NamespacedName, installed func(addOn string) bool, into *evaluation.Cluster,
) error {
	for _, need := range declared.Needs(addOn.Name) {
		if !need.Inputs.Any(input.Installations) || installed(need.Name) {
			continue
		}
		waits, err := l.Reader.Installation(ctx, types.NamespacedName{Namespace: addOn.Namespace, Name: need.Name})
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
