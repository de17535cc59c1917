package facts

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/factsobject"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/names"
)

// Reader reads the reported facts of all clusters.
type Reader struct {
	Fleet    hubcache.Reader
	Informer Objects
	Memory   *Memory
}

// Facts returns the reported facts of a cluster that the add-ons there need.
func (r *Reader) Facts(ctx context.Context, c *catalog.Catalog, cluster string) (evaluation.Facts, error) {
	addOns, err := loadAddOns(ctx, r.Fleet, cluster)
	if err != nil {
		return evaluation.Facts{}, err
	}
	return r.agents().Facts(ctx, cluster, fleet.Reported{
		Object: r.Informer.Get(factsobject.Key(cluster)), NotServed: r.Informer.State() == Absent,
		Needed: fleet.Requestable(c.RequestsOf(addOns.Installed)),
	})
}

func (r *Reader) agents() fleet.Agents { return fleet.Agents{Objects: r.Fleet, Memory: r.Memory} }

// lean strips an object to the fields that are used. In managedFields, it keeps the time when
// addon-manager last changed the request.
func lean(full *facts) *facts {
	object := &facts{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:         full.Namespace,
			Name:              full.Name,
			UID:               full.UID,
			ResourceVersion:   full.ResourceVersion,
			Generation:        full.Generation,
			CreationTimestamp: full.CreationTimestamp,
		},
		Spec: full.Spec, Status: full.Status,
	}
	for _, entry := range full.ManagedFields {
		if entry.Manager == names.AddonManager && entry.Subresource == "" {
			object.ManagedFields = append(object.ManagedFields, metav1.ManagedFieldsEntry{Manager: entry.Manager, Time: entry.Time})
		}
	}
	return object
}
