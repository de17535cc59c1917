// Package testenv starts and stops real API servers for tests and the demo: a hub with OCM's CRDs, and managed
// clusters without them. All of them listen on the loopback interface only.
//
// Each of them is an API server with an etcd, and without controllers: nothing collects garbage, issues service
// account tokens or empties a namespace that is being deleted. Package ocm below it starts a hub and managed clusters
// with OCM's own components, and kube-controller-manager.
package testenv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Options configure a cluster. The zero value works.
type Options struct {
	// Name is the name of the cluster, used in messages and in its kubeconfigs' names.
	Name string
	// Dir keeps the cluster's data, certificates and kubeconfigs, and stays after Stop. Default: a temporary folder
	// that Stop removes.
	Dir string
	// Log receives the output of the API server. Default: apiserver.log in Dir.
	Log io.Writer
	// Flags are further flags of the API server. They replace its defaults.
	Flags map[string][]string
}

// StartHub starts a cluster with OCM's CRDs. The CRD of ClusterManagementAddOns has Interlock's fields. A start is
// not interrupted half-way. If ctx ends meanwhile, the cluster is stopped again.
func StartHub(ctx context.Context, options Options) (*Cluster, error) {
	crds, err := hubCRDs()
	if err != nil {
		return nil, err
	}
	return start(ctx, options, crds)
}

// StartManaged starts a cluster without any CRDs.
func StartManaged(ctx context.Context, options Options) (*Cluster, error) {
	return start(ctx, options, nil)
}

// Fleet is a hub and its managed clusters.
type Fleet struct {
	Hub     *Cluster
	Managed []*Cluster
}

// StartFleet starts a hub and managed clusters side by side. If one of them
// fails, none is left running.
func StartFleet(ctx context.Context, hub Options, managed ...Options) (*Fleet, error) {
	fleet := &Fleet{Managed: make([]*Cluster, len(managed))}
	var group errgroup.Group
	group.Go(func() error {
		var err error
		fleet.Hub, err = StartHub(ctx, hub)
		return err
	})
	for i, options := range managed {
		group.Go(func() error {
			var err error
			fleet.Managed[i], err = StartManaged(ctx, options)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, errors.Join(err, fleet.Stop())
	}
	return fleet, nil
}

// Stop stops all clusters side by side.
func (f *Fleet) Stop() error {
	clusters := append([]*Cluster{f.Hub}, f.Managed...)
	failures := make([]error, len(clusters))
	var group errgroup.Group
	for i, cluster := range clusters {
		if cluster == nil {
			continue
		}
		group.Go(func() error {
			failures[i] = cluster.Stop()
			return nil
		})
	}
	_ = group.Wait() // each function stores its failure, so that all of them are reported
	return errors.Join(failures...)
}

func start(ctx context.Context, options Options, crds []*apiextensionsv1.CustomResourceDefinition) (*Cluster, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if options.Name == "" {
		options.Name = "cluster"
	}
	assets, err := Assets()
	if err != nil {
		return nil, err
	}
	cluster := &Cluster{name: options.Name, dir: options.Dir}
	if cluster.dir == "" {
		if cluster.dir, err = os.MkdirTemp("", "interlock-"+options.Name+"-"); err != nil {
			return nil, err
		}
		cluster.temporary = true
	}
	err = cluster.start(assets, options, crds)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("start %s: %w%s", options.Name, err, cluster.lastWords())
		return nil, errors.Join(err, cluster.Stop())
	}
	return cluster, nil
}
