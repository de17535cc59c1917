package webhook

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// hubCache is a cache whose kinds are synced by the test.
type hubCache struct {
	cache.Cache
	mutex sync.Mutex
	// synced are the kinds that have been read.
	synced map[string]bool
	// fails are the errors of kinds that cannot be read.
	fails map[string]error
	reads int
}

// informer is the informer of one kind.
type informer struct {
	cache.Informer
	synced bool
}

func (i informer) HasSynced() bool { return i.synced }

func (c *hubCache) GetInformer(_ context.Context, object client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.reads++
	kind := fmt.Sprintf("%T", object)
	return informer{synced: c.synced[kind]}, c.fails[kind]
}

func (c *hubCache) change(change func(*hubCache)) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	change(c)
}

func TestAReplicaIsReadyOnceAllIsRead(t *testing.T) {
	var kinds []string
	for _, object := range cachedKinds() {
		kinds = append(kinds, fmt.Sprintf("%T", object))
	}
	missing := &meta.NoKindMatchError{}
	for name, test := range map[string]struct {
		errs   map[string]error
		synced []string
		// change is the last change before the cache is filled.
		change func(*hubCache)
	}{
		"the last kind is read": {nil, kinds[:2], func(c *hubCache) { c.synced[kinds[2]] = true }},
		"an error ends":         {map[string]error{kinds[2]: errors.New("connection refused")}, kinds, func(c *hubCache) { c.fails = nil }},
		"a kind is not served":  {map[string]error{kinds[0]: missing}, kinds[1:2], func(c *hubCache) { c.synced[kinds[2]] = true }},
		"no kind is served":     {map[string]error{kinds[0]: missing, kinds[1]: missing}, nil, func(c *hubCache) { c.fails[kinds[2]] = missing }},
	} {
		t.Run(name, func(t *testing.T) {
			hub := &hubCache{synced: map[string]bool{}, fails: test.errs}
			for _, kind := range test.synced {
				hub.synced[kind] = true
			}
			r, ended := &cacheFiller{cache: hub}, make(chan error, 1)
			go func() { ended <- r.Start(t.Context()) }()
			until(t, func() bool {
				hub.mutex.Lock()
				defer hub.mutex.Unlock()
				return hub.reads > len(kinds)+2
			})
			if r.check(nil) == nil {
				t.Fatal("ready before all is read")
			}
			hub.change(test.change)
			if err := <-ended; err != nil || r.check(nil) != nil {
				t.Errorf("ended with %v, ready: %v", err, r.check(nil))
			}
		})
	}
}

func TestAReplicaThatStopsIsNotReady(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := &cacheFiller{cache: &hubCache{}}
	if err := r.Start(ctx); err != nil || r.check(nil) == nil {
		t.Errorf("ended with %v, ready: %v", err, r.check(nil))
	}
}

func until(t *testing.T, reached func() bool) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		return reached(), nil
	}); err != nil {
		t.Fatal(err)
	}
}
