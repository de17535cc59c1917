// Package smoketest checks that an installation works: a replica of addon-manager leads, and the API server reaches the
// webhook.
package smoketest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/names"
)

const (
	// webhookName is the part of webhook-configuration.yaml that reviews the test's add-on.
	webhookName = "clustermanagementaddons.interlock.open-cluster-management.io"
	addOnName   = "interlock-smoke-test"
	interval    = time.Second
)

// Options configure a test.
type Options struct {
	// LeaseNamespace is the namespace of the lease of addon-manager's leader election.
	LeaseNamespace string
	// Timeout bounds the test. Until then, it repeats a check that fails.
	Timeout time.Duration
	// Out receives a line for each check that succeeds.
	Out io.Writer
}

// Run makes all checks. The error names the first check that did not succeed in time.
func Run(ctx context.Context, restConfig *rest.Config, options Options) error {
	scheme := runtime.NewScheme()
	if err := errors.Join(coordinationv1.AddToScheme(scheme), addonv1alpha1.AddToScheme(scheme)); err != nil {
		return err
	}
	hub, err := client.New(restConfig, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("create client: %w", err)
	}
	return run(ctx, hub, options)
}

func run(ctx context.Context, hub client.Client, options Options) error {
	ctx, cancel := context.WithTimeout(ctx, options.Timeout)
	defer cancel()
	leads := &leaderCheck{hub: hub, lease: types.NamespacedName{Namespace: options.LeaseNamespace, Name: names.AddonManager}}
	for _, check := range []struct {
		succeeds string
		run      func(context.Context) error
	}{
		{"a replica of addon-manager leads", leads.run},
		{"the webhook refuses an add-on that requires itself", func(ctx context.Context) error { return refusesCycle(ctx, hub) }},
	} {
		var failure error
		err := wait.PollUntilContextCancel(ctx, interval, true, func(ctx context.Context) (bool, error) {
			if err := check.run(ctx); err != nil {
				if failure == nil || ctx.Err() == nil { // an error after the deadline has no cause
					failure = err
				}
				return false, nil
			}
			return true, nil
		})
		if err != nil {
			return fmt.Errorf("after %s: %w", options.Timeout, failure)
		}
		if _, err := fmt.Fprintln(options.Out, check.succeeds); err != nil {
			return err
		}
	}
	return nil
}

// leaderCheck observes renewals of the lease. It compares no clocks.
type leaderCheck struct {
	hub   client.Client
	lease types.NamespacedName
	// renewed is the renewal that it saw first. It is nil before.
	renewed *metav1.MicroTime
}

func (l *leaderCheck) run(ctx context.Context) error {
	lease := &coordinationv1.Lease{}
	if err := l.hub.Get(ctx, l.lease, lease); err != nil {
		return fmt.Errorf("read the lease %s of addon-manager's leader: %w", l.lease, err)
	}
	if ptr.Deref(lease.Spec.HolderIdentity, "") == "" || lease.Spec.RenewTime == nil {
		return fmt.Errorf("no replica of addon-manager leads: the lease %s has no holder", l.lease)
	}
	if l.renewed == nil {
		l.renewed = lease.Spec.RenewTime
	}
	if l.renewed.Equal(lease.Spec.RenewTime) {
		return fmt.Errorf("no replica of addon-manager leads: %s does not renew the lease %s", *lease.Spec.HolderIdentity, l.lease)
	}
	return nil
}

// refusesCycle returns an error unless the webhook refuses an add-on that can never work. It stores nothing.
func refusesCycle(ctx context.Context, hub client.Client) error {
	addOn := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{
		Name:        addOnName,
		Annotations: map[string]string{addonv1alpha1.DependenciesAnnotation: `[{"name": "` + addOnName + `", "type": "Required"}]`},
	}}
	addOn.Spec.InstallStrategy.Type = "Manual"
	err := hub.Create(ctx, addOn, client.DryRunAll)
	switch {
	case err == nil:
		return errors.New("the API server does not reach the webhook: it accepts an add-on that requires itself. " +
			"kubectl addon doctor shows more; networkPolicy.apiServerAddresses must have all addresses of the API server")
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), webhookName):
		return nil
	default:
		return fmt.Errorf("create an add-on as a dry run: %w", err)
	}
}
