package degraded

import (
	"context"
	"fmt"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
)

// confirmedFor is how long one request confirms for all clusters that an add-on
// declares no dependencies.
const confirmedFor = 5 * time.Second

// undeclared confirms with the API server that add-ons declare no dependencies.
// Different watches fill the caches of registrations and of add-ons. After a pause
// of the process, it may see a condition of the next leader before the declaration
// that the condition rests on. It must not clear such a condition.
type undeclared struct {
	mutex     sync.Mutex
	confirmed map[string]time.Time
}

// confirm reports whether the add-on declares nothing at this moment, or did not
// within the last confirmedFor.
func (u *undeclared) confirm(ctx context.Context, live client.Reader, addOn string, now time.Time) (bool, error) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if at, ok := u.confirmed[addOn]; ok && now.Sub(at) < confirmedFor {
		return true, nil
	}
	delete(u.confirmed, addOn)
	// A list of one needs no further right.
	var registered addonv1alpha1.ClusterManagementAddOnList
	only := &client.ListOptions{Raw: &metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", addOn).String()}}
	if err := live.List(ctx, &registered, only); err != nil {
		return false, fmt.Errorf("read what add-on %s declares: %w", addOn, err)
	}
	if !catalog.New(registered.Items).Declaration(addOn).Empty() {
		return false, nil
	}
	if u.confirmed == nil {
		u.confirmed = map[string]time.Time{}
	}
	u.confirmed[addOn] = now
	return true, nil
}
