package webhook

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// traffic is a set of requests that are repeated until the traffic ends. None of them may fail.
type traffic struct {
	cancel context.CancelFunc
	group  sync.WaitGroup

	mutex    sync.Mutex
	counts   map[string]int
	failures []error
	names    []string // the names of the requests
}

// startTraffic repeats requests: reads and writes through v1beta1, a registration that is denied, and the requests of the caller.
func startTraffic(ctx context.Context, extra map[string]func() error) *traffic {
	GinkgoHelper()
	create(ctx, clusterManagementAddOn(storage, "busy", declaredDependencies))
	requests := map[string]func() error{
		"read":  func() error { return readBusy(ctx) },
		"list":  func() error { return listBusy(ctx) },
		"write": func() error { return writeBusy(ctx) },
		"deny":  func() error { return denied(registerForItself(ctx)) },
	}
	for name, request := range extra {
		requests[name] = request
	}
	t := &traffic{counts: map[string]int{}, names: slices.Collect(maps.Keys(requests))}
	var trafficContext context.Context
	trafficContext, t.cancel = context.WithCancel(ctx)
	for name, request := range requests {
		t.group.Go(func() { t.repeat(trafficContext, name, request) })
	}
	DeferCleanup(t.end)
	return t
}

func (t *traffic) repeat(ctx context.Context, name string, request func() error) {
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for ctx.Err() == nil {
		err := request()
		t.mutex.Lock()
		t.counts[name]++
		if err != nil {
			t.failures = append(t.failures, fmt.Errorf("%s number %d: %w", name, t.counts[name], err))
		}
		t.mutex.Unlock()
		<-pace.C
	}
}

func (t *traffic) count(name string) int {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.counts[name]
}

func (t *traffic) end() {
	t.cancel()
	t.group.Wait()
}

// expectNoFailures ends the traffic, expects that there was enough of it, and that no request failed.
func (t *traffic) expectNoFailures() {
	GinkgoHelper()
	for _, name := range t.names {
		Eventually(t.count).WithArguments(name).Should(BeNumerically(">=", 20), name)
	}
	t.end()
	AddReportEntry("requests", t.counts)
	Expect(errors.Join(t.failures...)).NotTo(HaveOccurred())
}

func readBusy(ctx context.Context) error {
	object := reference(betaVersion, "busy")
	if err := hubClient.Get(ctx, types.NamespacedName{Name: "busy"}, object); err != nil {
		return err
	}
	return hasDeclared(object)
}

func listBusy(ctx context.Context) error {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(betaVersion)
	list.SetKind("ClusterManagementAddOnList")
	return hubClient.List(ctx, list)
}

func writeBusy(ctx context.Context) error {
	object := reference(betaVersion, "busy")
	body := fmt.Sprintf(`{"metadata":{"labels":{"at":"%d"}}}`, time.Now().UnixNano())
	if err := hubClient.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(body))); err != nil {
		return err
	}
	return hasDeclared(object)
}

func hasDeclared(object *unstructured.Unstructured) error {
	dependencies, _, err := unstructured.NestedSlice(object.Object, "spec", "dependencies")
	if err == nil && len(dependencies) != len(declaredDependencies) {
		err = fmt.Errorf("it has the dependencies %v", dependencies)
	}
	return err
}

// denied turns the response to a registration around, because an error is expected.
func denied(err error) error {
	if err == nil {
		return errors.New("it was let through: admission was not asked")
	}
	if !strings.Contains(err.Error(), "dependency cycle") {
		return err
	}
	return nil
}
