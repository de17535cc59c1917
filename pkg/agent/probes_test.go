package agent

import (
	"context"
	"errors"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllertest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"open-cluster-management.io/interlock/pkg/agent/addons"
)

func TestHubThatDoesNotRespondIsLogged(t *testing.T) {
	scheme, err := addons.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	clk := clocktesting.NewFakeClock(time.Now())
	r := &readiness{
		cache: &informertest.FakeInformers{Scheme: scheme, InformersByGVK: map[schema.GroupVersionKind]cache.SharedIndexInformer{
			addons.Kind: &controllertest.FakeInformer{},
		}},
		clock: clk, hub: "https://hub:6443",
	}
	lines := make(chan string, 10)
	logger := funcr.New(func(_, line string) { lines <- line }, funcr.Options{})
	ctx, cancel := context.WithCancel(log.IntoContext(t.Context(), logger))
	ended := make(chan error)
	go func() { ended <- r.Start(ctx) }()

	for range 2 {
		for !clk.HasWaiters() {
			goruntime.Gosched()
		}
		clk.Step(logInterval)
		if line := <-lines; !strings.Contains(line, "Waiting for the hub") || !strings.Contains(line, r.hub) {
			t.Errorf("logged %s", line)
		}
	}
	if r.check(nil) == nil {
		t.Error("ready")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAgentIsReadyUntilItsOwnLeaseExpires(t *testing.T) {
	synced, expired := func() bool { return true }, false
	r := &readiness{expired: func() bool { return expired }}
	r.synced.Store(&synced)
	for _, want := range []error{nil, errExpired, nil} {
		expired = want != nil
		if got := r.check(nil); !errors.Is(got, want) {
			t.Errorf("lease expired: %t, got %v", expired, got)
		}
	}
	r.expired = nil
	if err := r.check(nil); err != nil {
		t.Errorf("without a lease: %v", err)
	}
}
