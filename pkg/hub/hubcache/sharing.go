package hubcache

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"

	"k8s.io/utils/ptr"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// sharing shares equal labels, annotations and configs between the add-ons in a cache. They
// are the same on thousands of clusters. 100,000 add-ons take 87 MiB of the heap with sharing
// and 191 MiB without (BenchmarkMemory).
type sharing struct {
	values  pool[map[string]string]
	configs pool[[]ocmv1alpha1.ConfigReference]
}

// managedClusterAddOn strips an add-on, and shares the remaining fields.
func (s *sharing) managedClusterAddOn(full *addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn {
	lean := fleet.LeanAddOn(full)
	lean.Labels, lean.Annotations = s.shareValues(lean.Labels), s.shareValues(lean.Annotations)
	lean.Status.ConfigReferences = s.shareConfigs(lean.Status.ConfigReferences)
	return lean
}

func (s *sharing) shareValues(values map[string]string) map[string]string {
	if values == nil {
		return nil
	}
	var sum uint64 // a sum does not depend on the order of the map
	for name, value := range values {
		sum += maphash.Comparable(seed, [2]string{name, value})
	}
	return s.values.share(sum, values, maps.Equal)
}

// shareConfigs shares the references that fleet.LeanReferences keeps.
func (s *sharing) shareConfigs(configs []ocmv1alpha1.ConfigReference) []ocmv1alpha1.ConfigReference {
	if configs == nil {
		return nil
	}
	var sum uint64
	for i := range configs {
		sum += maphash.Comparable(seed, keyOf(configs[i]))
	}
	return s.configs.share(sum, configs, func(a, b []ocmv1alpha1.ConfigReference) bool { return slices.EqualFunc(a, b, sameConfig) })
}

// configKey is a reference without pointers, so that keys are comparable.
type configKey struct {
	ocmv1alpha1.ConfigReference
	desired, lastApplied ocmv1alpha1.ConfigSpecHash
	isDesired, isApplied bool
}

func keyOf(reference ocmv1alpha1.ConfigReference) configKey {
	key := configKey{
		desired:     ptr.Deref(reference.DesiredConfig, ocmv1alpha1.ConfigSpecHash{}),
		isDesired:   reference.DesiredConfig != nil,
		lastApplied: ptr.Deref(reference.LastAppliedConfig, ocmv1alpha1.ConfigSpecHash{}),
		isApplied:   reference.LastAppliedConfig != nil,
	}
	reference.DesiredConfig, reference.LastAppliedConfig = nil, nil
	key.ConfigReference = reference
	return key
}

func sameConfig(a, b ocmv1alpha1.ConfigReference) bool { return keyOf(a) == keyOf(b) }

// poolSize limits a pool. A full pool is emptied. Objects keep their shared values.
const poolSize = 10_000

// seed makes the sums of values differ from process to process.
var seed = maphash.MakeSeed()

// pool maps each sum to a shared value. The zero value is an empty pool. It is safe for
// concurrent use.
type pool[T any] struct {
	mutex  sync.Mutex
	values map[uint64]T
}

// share returns the pooled value if it is equal, and else the value itself.
func (p *pool[T]) share(sum uint64, value T, equal func(a, b T) bool) T {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if existing, ok := p.values[sum]; ok {
		if equal(existing, value) {
			return existing
		}
		return value
	}
	if p.values == nil || len(p.values) >= poolSize {
		p.values = map[uint64]T{}
	}
	p.values[sum] = value
	return value
}
