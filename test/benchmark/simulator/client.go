package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Key names an add-on on a cluster.
type Key = types.NamespacedName

// Trivial is a client that patches the status of add-ons as fast as the API server accepts it, and does nothing else.
// All measurements are compared with it. It sends the same patches as stock writers: a merge patch of the whole list
// of conditions.
type Trivial struct {
	client client.Client
	// patches makes each patch different from the previous one.
	patches atomic.Int64
	// since is the time of its last report on Available, by add-on. A write of another condition does not change it.
	since sync.Map
}

// TrivialUser is the user of a trivial client.
const TrivialUser = "trivial-client"

// NewTrivial makes a trivial client of the hub.
func (h *Hub) NewTrivial() (*Trivial, error) {
	user, err := h.User(TrivialUser)
	if err != nil {
		return nil, err
	}
	trivial, err := client.New(unthrottled(user.Config), client.Options{Scheme: h.scheme, Mapper: h.Client.RESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("make a trivial client: %w", err)
	}
	return &Trivial{client: trivial}, nil
}

// Report sets Available of all the add-ons, and returns the time that this took.
func (t *Trivial) Report(ctx context.Context, addOns []types.NamespacedName, status metav1.ConditionStatus) (time.Duration, error) {
	return t.forEach(ctx, len(addOns), func(ctx context.Context, i int) error {
		now := metav1.Now()
		t.since.Store(addOns[i], now)
		_, err := t.patch(ctx, addOns[i], conditions(addOns[i].Name, status, now, "completed with no errors."))
		return err
	})
}

// Touch makes a number of status patches that concern no dependency and no agent, spread over the add-ons. These must
// be available. Each patch changes the stored object. Touch returns the time that this took.
func (t *Trivial) Touch(ctx context.Context, addOns []types.NamespacedName, patches int) (time.Duration, error) {
	first := t.patches.Add(int64(patches))
	return t.forEach(ctx, patches, func(ctx context.Context, i int) error {
		key := addOns[i%len(addOns)]
		_, err := t.patch(ctx, key, t.touchedConditions(key, first+int64(i)))
		return err
	})
}

// TouchOne is Touch for one patch. It returns the new version of the add-on.
func (t *Trivial) TouchOne(ctx context.Context, key types.NamespacedName) (string, error) {
	return t.patch(ctx, key, t.touchedConditions(key, t.patches.Add(1)))
}

func (t *Trivial) touchedConditions(key types.NamespacedName, number int64) []metav1.Condition {
	since := joinTime
	if reportTime, ok := t.since.Load(key); ok {
		since, _ = reportTime.(metav1.Time)
	}
	return conditions(key.Name, metav1.ConditionTrue, since, fmt.Sprintf("completed with no errors (%d).", number))
}

// Label changes a label of an add-on.
func (t *Trivial) Label(ctx context.Context, key types.NamespacedName, value string) error {
	patch := fmt.Sprintf(`{"metadata":{"labels":{"simulated":%q}}}`, value)
	return t.client.Patch(ctx, objectOf(key), client.RawPatch(types.MergePatchType, []byte(patch)))
}

func (t *Trivial) patch(ctx context.Context, key types.NamespacedName, conditions []metav1.Condition) (string, error) {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": conditions}})
	if err != nil {
		return "", err
	}
	addOn := objectOf(key)
	if err := t.client.Status().Patch(ctx, addOn, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return "", fmt.Errorf("patch the status of %s: %w", key, err)
	}
	return addOn.ResourceVersion, nil
}

func (t *Trivial) forEach(ctx context.Context, count int, act func(context.Context, int) error) (time.Duration, error) {
	started := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range count {
		group.Go(func() error { return act(ctx, i) })
	}
	err := group.Wait()
	return time.Since(started), err
}

func objectOf(key types.NamespacedName) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
}
