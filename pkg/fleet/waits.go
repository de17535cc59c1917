package fleet

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// loadWaits adds the reasons why installations of an add-on's dependencies wait.
func (l Loader) loadWaits(
	ctx context.Context, evaluator *evaluation.Evaluator, addOn types.NamespacedName, installed func(addOn string) bool,
	cluster *evaluation.Cluster,
) error {
	for _, need := range evaluator.Needs(addOn.Name) {
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
		if cluster.Waits == nil {
			cluster.Waits = map[string]evaluation.Wait{}
		}
		cluster.Waits[need.Name] = waits
	}
	return nil
}

// loadSettings adds the outcome of an add-on's requests for the settings of installed add-ons.
func (l Loader) loadSettings(
	ctx context.Context, evaluator *evaluation.Evaluator, addOn types.NamespacedName, installed func(addOn string) bool,
	cluster *evaluation.Cluster,
) error {
	for _, need := range evaluator.Needs(addOn.Name) {
		if !need.Inputs.Any(input.Outcomes) || !installed(need.Name) {
			continue
		}
		outcome, err := l.Reader.Setting(ctx, types.NamespacedName{Namespace: addOn.Namespace, Name: need.Name})
		if err != nil {
			return err
		}
		if outcome.Equal(settings.Outcome{}) {
			continue
		}
		if cluster.Settings == nil {
			cluster.Settings = map[string]settings.Outcome{}
		}
		cluster.Settings[need.Name] = outcome
	}
	return nil
}
