package simulator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/testenv"
)

// Site is a hub and one managed cluster with its own API server, which stores the leases of add-ons.
type Site struct {
	Cluster  string
	AddOns   []AddOn
	Observer *Observer
	// Agent is the addon-agent. It is nil until it is started.
	Agent *process.Process

	hub     *Hub
	managed *testenv.Cluster
	leases  client.Client
	end     context.CancelFunc
	dir     string
}

// StartSite starts both API servers and installs the add-ons, each with a lease
// that expired long ago.
func StartSite(ctx context.Context, dir string, addOns []AddOn) (*Site, error) {
	site := &Site{Cluster: "cluster1", AddOns: addOns, dir: dir, end: func() {}}
	if err := site.start(ctx); err != nil {
		return nil, errors.Join(err, site.Stop(ctx))
	}
	return site, nil
}

func (s *Site) start(ctx context.Context) error {
	var err error
	if s.hub, err = StartHub(ctx, s.dir, "hub"); err != nil {
		return err
	}
	if s.managed, err = testenv.StartManaged(ctx, testenv.Options{Name: s.Cluster}); err != nil {
		return err
	}
	if s.leases, err = client.New(unthrottled(s.managed.Config), client.Options{}); err != nil {
		return err
	}
	if err := s.leases.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: addOnNamespace}}); err != nil {
		return err
	}
	for _, addOn := range s.AddOns {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: addOnNamespace, Name: addOn.Name}}
		lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(time.Now().Add(-time.Hour)))
		if err := s.leases.Create(ctx, lease); err != nil {
			return err
		}
	}
	fleet, err := NewFleet(ctx, s.hub, s.AddOns)
	if err != nil {
		return err
	}
	if err := fleet.Grow(ctx, 1, func() {}); err != nil {
		return err
	}
	observeCtx, end := context.WithCancel(ctx)
	s.end = end
	s.Observer, err = s.hub.Observe(observeCtx)
	return err
}

// StartAgent starts the cluster's addon-agent.
func (s *Site) StartAgent(binary string, grace time.Duration) error {
	user, err := s.hub.User(AgentUser)
	if err != nil {
		return err
	}
	s.Agent, err = process.Start(binary, filepath.Join(s.dir, "addon-agent.log"),
		"--cluster-name", s.Cluster, "--hub-kubeconfig", user.Kubeconfig, "--kubeconfig", s.managed.Kubeconfig(),
		"--lease-grace-period", grace.String(), "--metrics-bind-address", "0", "--health-probe-bind-address", "0", "--log-format", "json")
	if err != nil {
		return fmt.Errorf("%w (build it with make build)", err)
	}
	return nil
}

// Renew renews an add-on's lease, with the given time.
func (s *Site) Renew(ctx context.Context, addOn string, renewed time.Time) error {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: addOnNamespace, Name: addOn}}
	if err := s.leases.Get(ctx, client.ObjectKeyFromObject(lease), lease); err != nil {
		return fmt.Errorf("renew the lease of %s: %w", addOn, err)
	}
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(renewed))
	if err := s.leases.Update(ctx, lease); err != nil {
		return fmt.Errorf("renew the lease of %s: %w", addOn, err)
	}
	return nil
}

// Stop stops everything that was started.
func (s *Site) Stop(ctx context.Context) error {
	var failures []error
	if s.Agent != nil {
		failures = append(failures, s.Agent.Stop(context.WithoutCancel(ctx)))
	}
	s.end()
	if s.managed != nil {
		failures = append(failures, s.managed.Stop())
	}
	if s.hub != nil {
		failures = append(failures, s.hub.Stop())
	}
	return errors.Join(failures...)
}
