package lossless

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	storage     = "addon.open-cluster-management.io/v1alpha1"
	betaVersion = "addon.open-cluster-management.io/v1beta1"
	// perSecond is how many writes the writer begins in a second.
	perSecond = 50
	// atOnce bounds the writes in flight, such as those that wait for a conversion. If a machine is slower than perSecond, the writer
	// is slower too. With a
	// queue, each add-on would always be in the middle of a write, and every other writer would have conflicts.
	atOnce = 4
)

// writer writes registered add-ons as their authors, GitOps tools and OCM do. It changes nothing that Interlock owns.
type writer struct {
	start         time.Time
	wrote, failed atomic.Int64
	cancel        context.CancelFunc
	group         sync.WaitGroup
}

// write is a write to an add-on. It fails on a conflict, and where the API server cannot convert.
type write func(ctx context.Context, name, value string) error

// writes take turns. A write that reads first keeps fields that its client does not know.
var writes = []write{
	update(func(addOn *unstructured.Unstructured, value string) {
		addOn.SetLabels(map[string]string{"written": value})
	}),
	patch(`{"metadata":{"labels":{"patched":%q}}}`),
	update(func(addOn *unstructured.Unstructured, value string) {
		// With the type Placements, OCM would remove the installations.
		placement := map[string]any{"namespace": "default", "name": "none-" + value}
		_ = unstructured.SetNestedField(addOn.Object, map[string]any{"type": "Manual", "placements": []any{placement}}, "spec", "installStrategy")
	}),
	patch(`{"metadata":{"annotations":{"example.com/patched":%q}}}`),
	func(ctx context.Context, name, _ string) error { // OCM's controllers do this, which deletes a hidden field
		return admin.Status().Patch(ctx, registration(betaVersion, name), merge(`{"status":{}}`))
	},
	patch(`{"spec":{"addOnMeta":{"description":%q}}}`),
	func(ctx context.Context, name, value string) error {
		applied := registration(betaVersion, name)
		applied.SetLabels(map[string]string{"applied": value})
		return admin.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("gitops"), client.ForceOwnership)
	},
}

// update returns a write that reads the whole object, changes it, and writes it.
func update(change func(addOn *unstructured.Unstructured, value string)) write {
	return func(ctx context.Context, name, value string) error {
		addOn := registration(betaVersion, name)
		if err := admin.Get(ctx, client.ObjectKeyFromObject(addOn), addOn); err != nil {
			return err
		}
		change(addOn, value)
		return admin.Update(ctx, addOn)
	}
}

func patch(body string) write {
	return func(ctx context.Context, name, value string) error {
		return admin.Patch(ctx, registration(betaVersion, name), merge(fmt.Sprintf(body, value)))
	}
}

func registration(version, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(version)
	object.SetKind("ClusterManagementAddOn")
	object.SetName(name)
	return object
}

// startWriter starts a writer, which writes until it is stopped.
func startWriter() *writer {
	ctx, cancel := context.WithCancel(context.Background())
	w := &writer{start: time.Now(), cancel: cancel}
	targets, slots := append(allNames(), undeclared...), make(chan struct{}, atOnce)
	w.group.Go(func() {
		ticker := time.NewTicker(time.Second / perSecond)
		defer ticker.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			slots <- struct{}{}
			w.group.Go(func() {
				defer func() { <-slots }()
				if writes[i%len(writes)](ctx, targets[i%len(targets)], strconv.Itoa(i)) == nil {
					w.wrote.Add(1)
				} else {
					w.failed.Add(1)
				}
			})
		}
	})
	return w
}

// stop ends the writer, and returns its successful writes per second.
func (w *writer) stop() float64 {
	w.cancel()
	w.group.Wait()
	return float64(w.wrote.Load()) / time.Since(w.start).Seconds()
}
