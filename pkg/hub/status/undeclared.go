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

// confirmedFor is how long one request confirms for all clusters that an add-on
// declares no dependencies.
const confirmedFor = 5 * time.Second

// undeclared confirms with the API server that add-ons declare no dependencies.
// Different watches fill the caches of registrations and of add-ons. After a pause
// of the process, it may see a condition of the next leader before the declaration
// that the condition rests on. It must not clear such a condition.
type undeclared struct {
	requests singleflight.Group

	mutex     sync.Mutex
	confirmed map[declaredBy]time.Time
}

// declaredBy is the AddOnTemplate of an add-on that declares, or else its registration.
type declaredBy struct{ addOn, template string }

// confirm reports whether the add-on declares nothing at this moment, or did not
// within the last confirmedFor: by its AddOnTemplate of that name, or else by its registration.
func (u *undeclared) confirm(ctx context.Context, live client.Reader, addOn, template string, now time.Time) (bool, error) {
	by := declaredBy{addOn, template}
	if u.knows(by, now) {
		return true, nil
	}
	answer, err, _ := u.requests.Do(addOn+"/"+template, func() (any, error) {
		declared, err := declaredNow(ctx, live, addOn, template)
		return declared.Empty(), err
	})
	if err != nil {
		return false, fmt.Errorf("read what add-on %s declares: %w", addOn, err)
	}
	if empty, _ := answer.(bool); !empty {
		return false, nil
	}
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.confirmed == nil {
		u.confirmed = map[declaredBy]time.Time{}
	}
	u.confirmed[by] = now
	return true, nil
}

// knows reports whether it was confirmed within the last confirmedFor.
func (u *undeclared) knows(by declaredBy, now time.Time) bool {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	at, known := u.confirmed[by]
	if known && now.Sub(at) < confirmedFor {
		return true
	}
	delete(u.confirmed, by)
	return false
}

// declaredNow reads a declaration from the API server. A list of one needs no further right.
func declaredNow(ctx context.Context, live client.Reader, addOn, template string) (declared declaration.Declaration, err error) {
	if template == "" {
		var registered addonv1alpha1.ClusterManagementAddOnList
		err = live.List(ctx, &registered, declarations.Named(addOn))
		return catalog.New(registered.Items).Declaration(addOn), err
	}
	var templates addonv1alpha1.AddOnTemplateList
	err = live.List(ctx, &templates, declarations.Named(template))
	for i := range templates.Items {
		if templates.Items[i].Name == template {
			declared, _ = declaration.ReadTemplate(&templates.Items[i])
		}
	}
	return declared, err
}
