package planned

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// absent reports whether a Placement is known not to exist. That only explains a plan, so it is no error that it could not be read.
func (o *Options) absent(ctx context.Context, placement types.NamespacedName) bool {
	if o.Hub == nil { // a file has no Placements
		return false
	}
	if absent, asked := o.absences[placement]; asked { // for another managed cluster
		return absent
	}
	if o.absences == nil {
		o.absences = map[types.NamespacedName]bool{}
	}
	o.absences[placement] = apierrors.IsNotFound(o.Hub.Get(ctx, placement, &clusterv1beta1.Placement{}))
	return o.absences[placement]
}
