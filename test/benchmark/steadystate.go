package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	stockv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Both halves of the steady fleet: add-on a-N requires add-on b-N, and the
// dependency of every fourth pair is not installed.
const (
	clusterOne = "steady1"
	clusterTwo = "steady2"
	missing    = 4
	renewEvery = 30 * time.Second
)

// steadyState lets a fleet with satisfied and unsatisfied dependencies and
// leases that are renewed converge, and then counts writes at the API server.
func steadyState(ctx context.Context, o options) (err error) {
	fmt.Printf("Steady state with %d add-ons, for %s\n", o.addOns, o.duration)
	b, err := newBench(ctx, o, clusterOne, clusterTwo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.stop(ctx)) }()

	installed, err := b.installFleet(ctx, o.addOns)
	if err != nil {
		return err
	}
	renewals, stopRenewals := context.WithCancel(ctx)
	defer stopRenewals()
	var renewing errgroup.Group
	renewing.Go(func() error { return b.keepRenewing(renewals, installed) })

	if err := b.awaitConverged(ctx, o.addOns); err != nil {
		return err
	}
	before, err := b.writes(ctx)
	if err != nil {
		return err
	}
	select {
	case <-time.After(o.duration):
	case <-ctx.Done():
		return ctx.Err()
	}
	after, err := b.writes(ctx)
	if err != nil {
		return err
	}
	stopRenewals()
	return errors.Join(renewing.Wait(), check("writes of add-ons in the steady state", after-before, 0, ""))
}

// installFleet installs pairs on two clusters until there are that many
// add-ons, and returns all with a lease.
func (b *bench) installFleet(ctx context.Context, addOns int) ([]client.ObjectKey, error) {
	fmt.Printf("  installing %d add-ons …\n", addOns)
	var installed []client.ObjectKey
	for pair := 0; len(installed) < addOns; pair++ {
		dependent, dependency := fmt.Sprintf("a-%d", pair), fmt.Sprintf("b-%d", pair)
		err := errors.Join(b.register(ctx, dependency),
			b.register(ctx, dependent, addonv1alpha1.AddonDependency{Name: dependency}))
		if err != nil {
			return nil, err
		}
		names := []string{dependent, dependency}
		if pair%missing == 0 {
			names = names[:1]
		}
		for _, cluster := range []string{clusterOne, clusterTwo} {
			for _, name := range names {
				if len(installed) == addOns {
					break
				}
				err := errors.Join(b.renew(ctx, cluster, name), b.install(ctx, cluster, name, stockv1alpha1.HealthCheckModeLease))
				if err != nil {
					return nil, err
				}
				installed = append(installed, client.ObjectKey{Namespace: cluster, Name: name})
			}
		}
	}
	return installed, nil
}

func (b *bench) keepRenewing(ctx context.Context, installed []client.ObjectKey) error {
	for {
		for _, key := range installed {
			if err := b.renew(ctx, key.Namespace, key.Name); err != nil && ctx.Err() == nil {
				return err
			}
		}
		select {
		case <-time.After(renewEvery):
		case <-ctx.Done():
			return nil
		}
	}
}

// awaitConverged waits until every add-on has the Available that it must have.
func (b *bench) awaitConverged(ctx context.Context, addOns int) error {
	fmt.Println("  waiting for the fleet to converge …")
	return wait.PollUntilContextTimeout(ctx, time.Second, 5*time.Minute, true, func(ctx context.Context) (bool, error) {
		var list addonv1alpha1.ManagedClusterAddOnList
		if err := b.hub.List(ctx, &list); err != nil {
			return false, err
		}
		present := map[client.ObjectKey]bool{}
		for i := range list.Items {
			present[client.ObjectKeyFromObject(&list.Items[i])] = true
		}
		right := 0
		for i := range list.Items {
			if converged(&list.Items[i], present) {
				right++
			}
		}
		return right == addOns, nil
	})
}

func converged(addOn *addonv1alpha1.ManagedClusterAddOn, present map[client.ObjectKey]bool) bool {
	want := metav1.ConditionTrue
	dependency := client.ObjectKey{Namespace: addOn.Namespace, Name: "b" + addOn.Name[1:]}
	if addOn.Name[0] == 'a' && !present[dependency] {
		want = metav1.ConditionFalse
	}
	available := meta.FindStatusCondition(addOn.Status.Conditions, "Available")
	return available != nil && available.Status == want
}

// writes counts all requests so far that change ManagedClusterAddOns, at the
// hub's API server.
func (b *bench) writes(ctx context.Context) (float64, error) {
	clients, err := kubernetes.NewForConfig(unthrottled(b.fleet.Hub.Config))
	if err != nil {
		return 0, err
	}
	text, err := clients.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	total := 0.0
	for _, metric := range families["apiserver_request_total"].GetMetric() {
		labels := map[string]string{}
		for _, label := range metric.GetLabel() {
			labels[label.GetName()] = label.GetValue()
		}
		if labels["resource"] == "managedclusteraddons" && slices.Contains([]string{"APPLY", "PATCH", "PUT", "POST", "DELETE"}, labels["verb"]) {
			total += metric.GetCounter().GetValue()
		}
	}
	return total, nil
}
