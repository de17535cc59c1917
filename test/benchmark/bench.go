package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/go-logr/logr"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/testenv"
)

// bench is a hub, one managed cluster's API server, and Interlock's processes.
type bench struct {
	dir       string
	fleet     *testenv.Fleet
	hub       client.WithWatch
	managed   client.Client
	processes []*process.Process
}

func newBench(ctx context.Context, o options, clusters ...string) (*bench, error) {
	log.SetLogger(logr.Discard())
	fmt.Println("  starting a hub and a managed cluster …")
	b := &bench{}
	var err error
	if b.dir, err = os.MkdirTemp("", "interlock-benchmark-"); err != nil {
		return nil, err
	}
	if b.fleet, err = testenv.StartFleet(ctx, testenv.Options{Name: "hub"}, testenv.Options{Name: "managed"}); err != nil {
		return nil, err
	}
	if err := b.connect(); err != nil {
		return nil, errors.Join(err, b.stop(ctx))
	}
	if err := b.startInterlock(ctx, o, clusters); err != nil {
		return nil, errors.Join(err, b.stop(ctx))
	}
	return b, nil
}

func (b *bench) connect() error {
	scheme := runtime.NewScheme()
	if err := errors.Join(addonv1alpha1.AddToScheme(scheme), clientgoscheme.AddToScheme(scheme)); err != nil {
		return err
	}
	var err error
	if b.hub, err = client.NewWithWatch(unthrottled(b.fleet.Hub.Config), client.Options{Scheme: scheme}); err != nil {
		return err
	}
	b.managed, err = client.New(unthrottled(b.fleet.Managed[0].Config), client.Options{Scheme: scheme})
	return err
}

func unthrottled(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS = -1
	return config
}

func (b *bench) startInterlock(ctx context.Context, o options, clusters []string) error {
	err := b.start(filepath.Join(o.bin, "addon-manager"), "addon-manager",
		"--kubeconfig", b.fleet.Hub.Kubeconfig(), "--leader-elect=false",
		"--metrics-bind-address=0", "--health-probe-bind-address=0")
	if err != nil {
		return err
	}
	for _, cluster := range clusters {
		for _, side := range []client.Client{b.hub, b.managed} {
			if err := side.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster}}); err != nil {
				return err
			}
		}
		err := b.start(filepath.Join(o.bin, "addon-agent"), "addon-agent-"+cluster,
			"--cluster-name", cluster, "--hub-kubeconfig", b.fleet.Hub.Kubeconfig(),
			"--kubeconfig", b.fleet.Managed[0].Kubeconfig(),
			"--metrics-bind-address=0", "--health-probe-bind-address=0")
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) start(path, name string, args ...string) error {
	p, err := process.Start(path, filepath.Join(b.dir, name+".log"), args...)
	if err != nil {
		return fmt.Errorf("%w (build it with make build)", err)
	}
	b.processes = append(b.processes, p)
	return nil
}

// stop ends everything. The logs stay when something went wrong.
func (b *bench) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	var failures []error
	for _, p := range b.processes {
		failures = append(failures, p.Stop(ctx))
	}
	failures = append(failures, b.fleet.Stop())
	if err := errors.Join(failures...); err != nil {
		return err
	}
	return os.RemoveAll(b.dir)
}
