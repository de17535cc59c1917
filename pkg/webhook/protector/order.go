package protector

import (
	"context"

	"open-cluster-management.io/interlock/pkg/dependency/plan/teardown"
)

// GoBefore returns the add-ons that are removed before an add-on. They need not be installed.
func (v *Validator) GoBefore(ctx context.Context, addOn string) ([]string, error) {
	stored, err := v.declarations.read(ctx)
	if err != nil {
		return nil, err
	}
	v.declarations.mutex.Lock()
	defer v.declarations.mutex.Unlock()
	return teardown.Dependents(v.declarations.catalog(stored), addOn), nil
}
