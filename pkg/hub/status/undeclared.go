package status

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
)

// confirmedFor is the time for which one request confirms, for all clusters, that an add-on
// declares no dependencies.
const confirmedFor = 5 * time.Second

// undeclaredCache confirms with the API server that add-ons declare no dependencies. The
// caches of registrations and of add-ons have different watches. After a pause of the
// process, the cache may have a condition of the next leader, but not yet the declaration
// behind it. The process must not clear such a condition.
type undeclaredCache struct {
	requests singleflight.Group

	mutex     sync.Mutex
	confirmed map[declarationSource]time.Time
}

// declarationSource is the AddOnTemplate with the declaration of an add-on. Without a template, it is its registration.
type declarationSource struct{ addOn, template string }

// confirm reports whether the add-on declares no dependencies, in the AddOnTemplate or else in its
// registration. The result of an API request is used again for confirmedFor.
func (u *undeclaredCache) confirm(ctx context.Context, live client.Reader, addOn, template string, now time.Time) (bool, error) {
	source := declarationSource{addOn, template}
	if u.isConfirmed(source, now) {
		return true, nil
	}
	result, err, _ := u.requests.Do(addOn+"/"+template, func() (any, error) {
		d, err := readDeclaration(ctx, live, addOn, template)
		return d.Empty(), err
	})
	if err != nil {
		return false, fmt.Errorf("read what add-on %s declares: %w", addOn, err)
	}
	if empty, _ := result.(bool); !empty {
		return false, nil
	}
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.confirmed == nil {
		u.confirmed = map[declarationSource]time.Time{}
	}
	u.confirmed[source] = now
	return true, nil
}

// isConfirmed reports whether the source was confirmed within the last confirmedFor.
func (u *undeclaredCache) isConfirmed(source declarationSource, now time.Time) bool {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	confirmedAt, ok := u.confirmed[source]
	if ok && now.Sub(confirmedAt) < confirmedFor {
		return true
	}
	delete(u.confirmed, source)
	return false
}

// readDeclaration reads a declaration from the API server. It uses a list, because addon-manager has no right to
// get these objects.
func readDeclaration(ctx context.Context, live client.Reader, addOn, template string) (declaration.Declaration, error) {
	if template == "" {
		var registrations addonv1alpha1.ClusterManagementAddOnList
		err := live.List(ctx, &registrations, declarations.Named(addOn))
		return catalog.New(registrations.Items).Declaration(addOn), err
	}
	var d declaration.Declaration
	var templates addonv1alpha1.AddOnTemplateList
	err := live.List(ctx, &templates, declarations.Named(template))
	for i := range templates.Items {
		if templates.Items[i].Name == template {
			d, _ = declaration.ReadTemplate(&templates.Items[i])
		}
	}
	return d, err
}
