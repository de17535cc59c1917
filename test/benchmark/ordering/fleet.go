package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const (
	// writers is the number of open requests of the hub's user.
	writers = 20
	// managerUser is addon-manager's user on the hub.
	managerUser = "interlock-addon-manager"
	// patience is longer than any step takes.
	patience = time.Hour
)

// fleet is a hub with managed clusters, whose agents are simulated.
type fleet struct {
	hub      *ocm.Hub
	manager  *process.Process
	dir      string
	clusters []string
	end      context.CancelFunc
	progress *progress
}

func start(ctx context.Context, o options) (*fleet, error) {
	dir, err := os.MkdirTemp("", "interlock-ordering-")
	if err != nil {
		return nil, err
	}
	f := &fleet{dir: dir, progress: newProgress(), end: func() {}}
	if f.hub, err = ocm.StartHub(ctx, ocm.HubOptions{InterlockCRDs: true, MutatingAdmissionPolicy: true}); err != nil {
		return nil, err
	}
	if err := f.prepare(ctx, o); err != nil {
		return nil, errors.Join(err, f.stop())
	}
	return f, nil
}

func (f *fleet) prepare(ctx context.Context, o options) error {
	for i := range o.clusters {
		f.clusters = append(f.clusters, fmt.Sprintf("cluster%04d", i+1))
	}
	if err := f.forEach(ctx, len(f.clusters), func(ctx context.Context, i int) error { return f.join(ctx, f.clusters[i]) }); err != nil {
		return err
	}
	followCtx, end := context.WithCancel(context.WithoutCancel(ctx))
	f.end = end
	if err := f.follow(followCtx); err != nil {
		return err
	}
	user, err := f.hub.AddUser(managerUser, "system:masters")
	if err != nil {
		return err
	}
	f.manager, err = process.Start(filepath.Join(o.bin, "addon-manager"), filepath.Join(f.dir, "addon-manager.log"),
		"--kubeconfig", user.Kubeconfig, "--leader-elect=false", "--lifecycle", "--guard=policy",
		"--metrics-bind-address=0", "--health-probe-bind-address=0")
	if err != nil {
		return err
	}
	return f.awaitGateRule(ctx)
}

// join creates a managed cluster that stays available.
func (f *fleet) join(ctx context.Context, name string) error {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	cluster.Spec.HubAcceptsClient, cluster.Spec.LeaseDurationSeconds = true, 3600
	if err := f.hub.Client.Create(ctx, cluster); err != nil {
		return err
	}
	err := await(ctx, "the namespace of "+name, func(ctx context.Context) (bool, error) {
		err := f.hub.Client.Get(ctx, client.ObjectKey{Name: name}, &corev1.Namespace{})
		return err == nil, client.IgnoreNotFound(err)
	})
	if err != nil {
		return err
	}
	return await(ctx, name+" to be available", func(ctx context.Context) (bool, error) {
		if err := f.hub.Client.Get(ctx, client.ObjectKey{Name: name}, cluster); err != nil {
			return false, err
		}
		meta.SetStatusCondition(&cluster.Status.Conditions, metav1.Condition{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "Simulated",
		})
		err := f.hub.Client.Status().Update(ctx, cluster)
		return err == nil, ignoreConflict(err)
	})
}

func ignoreConflict(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// awaitGateRule waits until the hub acts on the gate rule. addon-manager logs that after a test.
func (f *fleet) awaitGateRule(ctx context.Context) error {
	const probed = "probed"
	if err := f.register(ctx, probed, nil, false); err != nil {
		return err
	}
	if err := f.hub.Client.Create(ctx, installed(f.clusters[0], probed, false)); err != nil {
		return err
	}
	return await(ctx, "the gate rule", func(context.Context) (bool, error) {
		output, err := os.ReadFile(filepath.Join(f.dir, "addon-manager.log"))
		return bytes.Contains(output, []byte("Gate rule is in force")), err
	})
}

// follow counts the available add-ons, and starts the simulated agents.
func (f *fleet) follow(ctx context.Context) error {
	objects, err := cache.New(f.hub.Config, cache.Options{Scheme: f.hub.Client.Scheme()})
	if err != nil {
		return err
	}
	addOns, err := objects.GetInformer(ctx, &addonv1alpha1.ManagedClusterAddOn{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	works, err := objects.GetInformer(ctx, &workv1.ManifestWork{}, cache.BlockUntilSynced(false))
	if err != nil {
		return err
	}
	report := func(object any) {
		if addOn, ok := object.(*addonv1alpha1.ManagedClusterAddOn); ok {
			f.progress.report(addOn, meta.IsStatusConditionTrue(addOn.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionAvailable))
		}
	}
	if _, err := addOns.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: report, UpdateFunc: func(_, object any) { report(object) },
	}); err != nil {
		return err
	}
	if err := f.simulateAgents(ctx, works); err != nil {
		return err
	}
	go func() { _ = objects.Start(ctx) }() // it ends with the context
	if !objects.WaitForCacheSync(ctx) {
		return errors.New("the caches of the fleet have not synced")
	}
	return nil
}

func (f *fleet) forEach(ctx context.Context, count int, act func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range count {
		group.Go(func() error { return act(ctx, i) })
	}
	return group.Wait()
}

func await(ctx context.Context, name string, condition func(context.Context) (bool, error)) error {
	if err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 2*time.Minute, true, condition); err != nil {
		return fmt.Errorf("wait for %s: %w", name, err)
	}
	return nil
}

// installed returns an add-on that a user installs. With ordered, its gate is closed, like admission would do.
// addon-manager opens it.
func installed(cluster, name string, ordered bool) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	if ordered {
		addOn.Annotations = map[string]string{interlockv1alpha1.GateAnnotation: interlockv1alpha1.GateClosed}
	}
	return addOn
}

func (f *fleet) stop() error {
	f.end()
	var failed error
	if f.manager != nil {
		failed = f.manager.Stop(context.Background())
	}
	return errors.Join(failed, f.hub.Stop(), os.RemoveAll(f.dir))
}
