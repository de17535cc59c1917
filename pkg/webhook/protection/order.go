package protection

import (
	"context"

	"open-cluster-management.io/interlock/pkg/dependency/teardown"
)

// GoBefore returns the add-ons that are removed before an add-on, where they are installed.
func (v *Validator) GoBefore(ctx context.Context, addOn string) ([]string, error) {
	read, err := v.declared.read(ctx)
	if err != nil {
		return nil, err
	}
	v.declared.mutex.Lock()
	defer v.declared.mutex.Unlock()
	return teardown.Dependents(v.declared.catalog(read), addOn), nil
}
