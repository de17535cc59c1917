package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/testenv"
)

// The fleet of BenchmarkStorm. On each cluster, all add-ons fail with their root: a chain
// of four dependents, and four add-ons that depend directly on the root.
const (
	stormClusters = 100
	stormAddOns   = "root, a: root, b: a, c: b, d: c, e: root, f: root, g: root, h: root"
	stormFlips    = 4
	stormRounds   = 3
)

// storm is a hub on which storms are measured.
type storm struct {
	testing.TB
	config *rest.Config
	hub    client.Client
}

// BenchmarkStorm compares storms with reports to storms without, on an API server: the
// root fails on all clusters at once, and recovers, twice. time/off is the time until all
// conditions are right, requests/off the number of addon-manager's requests until it rests. It needs
// KUBEBUILDER_ASSETS. Run it with -benchtime 1x.
func BenchmarkStorm(b *testing.B) {
	ctrl.SetLogger(logr.Discard())
	cluster, err := testenv.StartHub(b.Context(), testenv.Options{Name: "hub"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = cluster.Stop() })
	administrator, err := cluster.Client(fleet.AddToScheme)
	if err != nil {
		b.Fatal(err)
	}
	s := &storm{TB: b, config: cluster.Config, hub: administrator}
	s.furnish()
	for b.Loop() {
		took, requested := map[dependencyv1alpha1.ReportScope][]float64{}, map[dependencyv1alpha1.ReportScope][]float64{}
		for range stormRounds {
			for _, scope := range []dependencyv1alpha1.ReportScope{"", dependencyv1alpha1.ReportUnsatisfied, dependencyv1alpha1.ReportAll} {
				seconds, requests := s.measure(scope)
				took[scope], requested[scope] = append(took[scope], seconds), append(requested[scope], requests)
			}
		}
		b.ReportMetric(median(took[""]), "s/off")
		b.ReportMetric(median(requested[""]), "requests/off")
		for _, scope := range []dependencyv1alpha1.ReportScope{dependencyv1alpha1.ReportUnsatisfied, dependencyv1alpha1.ReportAll} {
			b.ReportMetric(median(took[scope])/median(took[""]), fmt.Sprintf("×time/%s", scope))
			b.ReportMetric(median(requested[scope])/median(requested[""]), fmt.Sprintf("×requests/%s", scope))
		}
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// eachCluster calls a function for each cluster, some at a time.
func (s *storm) eachCluster(call func(ctx context.Context, cluster string) error) {
	s.Helper()
	group, ctx := errgroup.WithContext(s.Context())
	group.SetLimit(16)
	for i := range stormClusters {
		group.Go(func() error { return call(ctx, fmt.Sprintf("cluster-%03d", i)) })
	}
	if err := group.Wait(); err != nil {
		s.Fatal(err)
	}
}

// furnish installs all add-ons on all clusters, available.
func (s *storm) furnish() {
	registrations := fixture.Registrations(stormAddOns)
	for i := range registrations {
		registrations[i].Spec.InstallStrategy.Type = "Manual"
		if err := s.hub.Create(s.Context(), &registrations[i]); err != nil {
			s.Fatal(err)
		}
	}
	s.eachCluster(func(ctx context.Context, cluster string) error {
		if err := s.hub.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster}}); err != nil {
			return err
		}
		for i := range registrations {
			addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: registrations[i].Name}}
			if err := s.hub.Create(ctx, addOn); err != nil {
				return err
			}
			if err := s.report(ctx, addOn, metav1.ConditionTrue); err != nil {
				return err
			}
		}
		return nil
	})
}

// report sets Available of an add-on.
func (s *storm) report(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, status metav1.ConditionStatus) error {
	addOn.Status.Conditions = []metav1.Condition{{Type: "Available", Status: status, Reason: "Storm", LastTransitionTime: metav1.Now()}}
	patch, err := json.Marshal(map[string]any{"status": addOn.Status})
	if err != nil {
		return err
	}
	return s.hub.Status().Patch(ctx, addOn, client.RawPatch(types.MergePatchType, patch))
}

// measure runs a storm with a new addon-manager. It returns how long the conditions took,
// and how many requests addon-manager sent until it rested.
func (s *storm) measure(scope dependencyv1alpha1.ReportScope) (seconds, requests float64) {
	var sent atomic.Int64
	stop := s.start(scope, &sent)
	defer stop()
	s.await(false)
	rest := func() {
		last := int64(-1)
		s.until(2500*time.Millisecond, func(context.Context) (bool, error) { // longer than reports are delayed
			previous := last
			last = sent.Load()
			return previous == last, nil
		})
	}
	rest()
	previous := sent.Load()
	var took time.Duration
	for flip := range stormFlips {
		fails, status := flip%2 == 0, metav1.ConditionTrue
		if fails {
			status = metav1.ConditionFalse
		}
		began := time.Now()
		s.eachCluster(func(ctx context.Context, cluster string) error {
			return s.report(ctx, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "root"}}, status)
		})
		s.await(fails)
		took += time.Since(began)
	}
	rest()
	return took.Seconds(), float64(sent.Load() - previous)
}

// start runs an addon-manager, and counts its requests.
func (s *storm) start(scope dependencyv1alpha1.ReportScope, sent *atomic.Int64) (stop func()) {
	config := rest.CopyConfig(s.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counting{next, sent} })
	manager, err := NewManager(config, Options{
		MetricsAddress: "0", HealthAddress: "0", Offline: evaluation.OfflineHold, Concurrency: 16,
		Registry: prometheus.NewRegistry(), Reports: scope,
	})
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithCancel(s.Context())
	ended := make(chan error)
	go func() { ended <- manager.Start(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			s.Error(err)
		}
	}
}

// counting counts requests.
type counting struct {
	http.RoundTripper
	sent *atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (c counting) RoundTrip(request *http.Request) (*http.Response, error) {
	c.sent.Add(1)
	return c.RoundTripper.RoundTrip(request)
}

// await waits until Degraded is right on all dependents.
func (s *storm) await(fails bool) {
	s.until(50*time.Millisecond, func(ctx context.Context) (bool, error) {
		var list addonv1alpha1.ManagedClusterAddOnList
		err := s.hub.List(ctx, &list)
		return err == nil && !slices.ContainsFunc(list.Items, func(addOn addonv1alpha1.ManagedClusterAddOn) bool {
			return addOn.Name != "root" && meta.IsStatusConditionTrue(addOn.Status.Conditions, "Degraded") != fails
		}), err
	})
}

// until waits until the condition is true.
func (s *storm) until(interval time.Duration, condition wait.ConditionWithContextFunc) {
	if err := wait.PollUntilContextTimeout(s.Context(), interval, time.Minute, true, condition); err != nil {
		s.Fatal(err)
	}
}
