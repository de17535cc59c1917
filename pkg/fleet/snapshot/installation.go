package snapshot

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// Installation implements fleet.Reader. addon-manager stores what its installations wait for in no object, so the messages of dependents are
// all that shows it. They are read for people only: the plugin shows it, and nothing is decided on it.
func (s *Snapshot) Installation(_ context.Context, addOn types.NamespacedName) (evaluation.Wait, error) {
	for _, dependent := range s.has(addOn.Namespace).addOns {
		degraded := fleet.Degraded(dependent)
		if degraded == nil {
			continue
		}
		for _, wait := range []evaluation.Wait{evaluation.WaitForInterlock, evaluation.WaitForApproval, evaluation.WaitGivenUp} {
			if strings.Contains(degraded.Message, wait.Explanation(addOn.Name)) {
				return wait, nil
			}
		}
	}
	return evaluation.NoWait, nil
}
