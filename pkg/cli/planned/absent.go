package planned

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// absent reports whether a Placement certainly does not exist. This only explains a plan, so a failed read is no error.
func (o *Options) absent(ctx context.Context, placement types.NamespacedName) bool {
	if o.Hub == nil { // a file has no Placements
		return false
	}
	if absent, ok := o.absences[placement]; ok { // for another managed cluster
		return absent
	}
	if o.absences == nil {
		o.absences = map[types.NamespacedName]bool{}
	}
	o.absences[placement] = apierrors.IsNotFound(o.Hub.Get(ctx, placement, &clusterv1beta1.Placement{}))
	return o.absences[placement]
}
