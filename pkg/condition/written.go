package condition

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const (
	// behind is longer than a cache is behind the API server, and maxBehind is of how many writes it may be.
	behind    = 10 * time.Second
	maxBehind = 10_000
)

var (
	resource    = addonv1alpha1.GroupVersion.WithResource("managedclusteraddons").GroupResource()
	errOutdated = errors.New("the cache has not seen the last write yet")
)

// Written remembers which versions of objects this process has just replaced. What a cache still has of such a version must not be
// written: the API server would only answer with a conflict. It is safe for concurrent use; nil remembers nothing.
type Written struct{ replaced *cache.LRUExpireCache }

// replacedVersion is an object with the resourceVersion that it had before a write.
type replacedVersion struct {
	types.NamespacedName

	resourceVersion string
}

// NewWritten remembers nothing yet.
func NewWritten() *Written { return &Written{cache.NewLRUExpireCache(maxBehind)} }

// Record notes a write, with the resourceVersions of the object before and after it. They are the same where nothing was stored.
func (w *Written) Record(key types.NamespacedName, before, after string) {
	if w != nil && before != after {
		w.replaced.Add(replacedVersion{key, before}, nil, behind)
	}
}

// Outdated reports whether the object has been written since it had that resourceVersion.
func (w *Written) Outdated(key types.NamespacedName, resourceVersion string) bool {
	if w == nil {
		return false
	}
	_, is := w.replaced.Get(replacedVersion{key, resourceVersion})
	return is
}
