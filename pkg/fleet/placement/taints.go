package placement

import (
	"fmt"
	"slices"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

func validate(tolerations []clusterv1beta1.Toleration) error {
	for i, toleration := range tolerations {
		path := fmt.Sprintf("spec.tolerations[%d]", i)
		switch {
		case toleration.Key == "" && toleration.Operator != clusterv1beta1.TolerationOpExists:
			return fmt.Errorf("%s.operator=%q: must be Exists, because key is empty", path, toleration.Operator)
		case toleration.Operator == clusterv1beta1.TolerationOpExists && toleration.Value != "":
			return fmt.Errorf("%s.value=%q: must be empty, because operator is Exists", path, toleration.Value)
		}
	}
	return nil
}

// tolerated reports whether a new Placement tolerates all taints of a cluster. A taint with
// PreferNoSelect does not keep it from selecting the cluster.
func tolerated(taints []clusterv1.Taint, tolerations []clusterv1beta1.Toleration, now time.Time) bool {
	return !slices.ContainsFunc(taints, func(taint clusterv1.Taint) bool {
		return taint.Effect != clusterv1.TaintEffectPreferNoSelect &&
			!slices.ContainsFunc(tolerations, func(toleration clusterv1beta1.Toleration) bool { return tolerates(toleration, taint, now) })
	})
}

func tolerates(toleration clusterv1beta1.Toleration, taint clusterv1.Taint, now time.Time) bool {
	if toleration.Effect != "" && toleration.Effect != taint.Effect || toleration.Key != "" && toleration.Key != taint.Key {
		return false
	}
	if toleration.Operator != clusterv1beta1.TolerationOpExists && toleration.Value != taint.Value {
		return false
	}
	return toleration.TolerationSeconds == nil ||
		now.Before(taint.TimeAdded.Add(time.Duration(*toleration.TolerationSeconds)*time.Second))
}
