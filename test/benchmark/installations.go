package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/benchmark/result"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

const (
	installationsMethod = `An add-on on each cluster needs others with install: Auto, which are there. addon-manager starts with ` +
		`--lifecycle, once before and once after each of them has an AddOnInstallation, and is then idle for some seconds. The time runs ` +
		`until it has evaluated every add-on and decided on every AddOnInstallation. The API server counts its writes. This runs once.`
	// requester is the add-on that needs the others.
	requester = "requester"
	// manyInstallations is the number of AddOnInstallations, if the fleet has as many add-ons.
	manyInstallations = 10_000
	// startWithBound bounds the ratio of the starts.
	startWithBound = 4
	// quietPeriod is the time for which nothing changes.
	quietPeriod = time.Minute
)

func installations(ctx context.Context, s *session, figures *result.Scenario) error {
	addOns := s.requested()
	if err := s.stopManager(ctx); err != nil {
		return err
	}
	if err := s.request(ctx, addOns); err != nil {
		return err
	}
	before, err := s.startWithLifecycle(ctx, nil)
	if err != nil {
		return err
	}
	if err := s.storeInstallations(ctx, addOns); err != nil {
		return err
	}
	if _, err := s.startWithLifecycle(ctx, nil); err != nil { // it may complete the stored AddOnInstallations
		return err
	}
	var after start
	requests, err := s.fleet.Hub.Requests.During(func() error {
		after, err = s.startWithLifecycle(ctx, func() error { return pause(ctx, quietPeriod) })
		return err
	})
	if err != nil {
		return err
	}
	count := float64(len(addOns) * len(s.fleet.Clusters))
	figures.Measure("AddOnInstallations", "", count)
	figures.Bound("writes at a start, and in the minute after it", "",
		float64(requests.Writes(simulator.ManagerUser, simulator.LifecycleResources...)), result.NeverAbove, 0)
	figures.Measure("memory without AddOnInstallations", "MiB", before.memory)
	figures.Measure("memory with them", "MiB", after.memory)
	figures.Measure("memory of one", "KiB", max(0, after.memory-before.memory)*1024/count)
	figures.Measure("start without AddOnInstallations", "s", before.took.Seconds())
	figures.Measure("start with them", "s", after.took.Seconds())
	figures.Bound("relative to a start without", "×", after.took.Seconds()/before.took.Seconds(), result.MedianAtMost, startWithBound)
	return errors.Join(s.withdraw(ctx, addOns), s.startManager(ctx, simulator.ManagerOptions{Name: "addon-manager"}))
}

// requested returns the add-ons that have an AddOnInstallation on each cluster.
func (s *session) requested() []string {
	count := min(len(s.fleet.AddOns), (manyInstallations+len(s.fleet.Clusters)-1)/len(s.fleet.Clusters))
	names := make([]string, 0, count)
	for _, addOn := range s.fleet.AddOns[:count] {
		names = append(names, addOn.Name)
	}
	return names
}

// request registers and installs the add-on that needs the others. Their owners consent.
func (s *session) request(ctx context.Context, addOns []string) error {
	defer s.progress.step("requesting installations")()
	needs := simulator.AddOn{Name: requester}
	for _, name := range addOns {
		needs.Dependencies = append(needs.Dependencies, addonv1alpha1.AddonDependency{
			Name: name, Type: addonv1alpha1.DependencyTypeRequired,
			Install: addonv1alpha1.DependencyInstallAuto, Removal: addonv1alpha1.DependencyRemovalWithLastDependent,
		})
		if err := s.consent(ctx, name, "true"); err != nil {
			return err
		}
	}
	if err := s.fleet.Hub.Register(ctx, needs); err != nil {
		return err
	}
	return simulator.ForEach(ctx, s.fleet.Clusters, func(ctx context.Context, cluster string) error {
		return s.fleet.Hub.Install(ctx, cluster, requester)
	})
}

// consent sets or removes the annotation with which the owner of an add-on consents. value is a string, or nil.
func (s *session) consent(ctx context.Context, addOn string, value any) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"annotations": map[string]any{addonv1alpha1.InstallOnDemandAnnotation: value},
	}})
	if err != nil {
		return err
	}
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: addOn}}
	return s.fleet.Hub.Client.Patch(ctx, registration, client.RawPatch(types.MergePatchType, patch))
}

// start is a start of addon-manager.
type start struct {
	took time.Duration
	// memory is the resident memory in MiB.
	memory float64
}

// startWithLifecycle starts addon-manager, and stops it again. idle is called in between, and may be nil.
func (s *session) startWithLifecycle(ctx context.Context, idle func() error) (start, error) {
	if err := s.startManager(ctx, simulator.ManagerOptions{Name: "lifecycle", Lifecycle: true}); err != nil {
		return start{}, err
	}
	measurement := start{took: time.Since(s.manager.Started)}
	if err := pause(ctx, memoryLull); err != nil {
		return measurement, err
	}
	if idle != nil {
		if err := idle(); err != nil {
			return measurement, err
		}
	}
	usage, err := simulator.UsageOf(s.manager.PID())
	measurement.memory = usage.RSS
	return measurement, errors.Join(err, s.stopManager(ctx))
}

// storeInstallations stores the AddOnInstallations of add-ons that are installed.
func (s *session) storeInstallations(ctx context.Context, addOns []string) error {
	tick, finish := s.progress.count("AddOnInstallations", len(s.fleet.Clusters)*len(addOns))
	defer finish()
	return simulator.ForEach(ctx, s.fleet.Clusters, func(ctx context.Context, name string) error {
		cluster := &clusterv1.ManagedCluster{}
		if err := s.fleet.Hub.Client.Get(ctx, types.NamespacedName{Name: name}, cluster); err != nil {
			return err
		}
		for _, addOn := range addOns {
			if err := s.fleet.Hub.StoreInstallation(ctx, cluster, addOn, requester); err != nil {
				return err
			}
			tick()
		}
		return nil
	})
}

// withdraw removes the requests and the AddOnInstallations.
func (s *session) withdraw(ctx context.Context, addOns []string) error {
	defer s.progress.step("withdrawing installations")()
	for _, name := range addOns {
		if err := s.consent(ctx, name, nil); err != nil {
			return err
		}
	}
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: requester}}
	if err := s.fleet.Hub.Client.Delete(ctx, registration); err != nil {
		return err
	}
	return simulator.ForEach(ctx, s.fleet.Clusters, func(ctx context.Context, cluster string) error {
		installation := &dependencyv1alpha1.AddOnInstallation{}
		if err := s.fleet.Hub.Client.DeleteAllOf(ctx, installation, client.InNamespace(cluster)); err != nil {
			return fmt.Errorf("delete AddOnInstallations on %s: %w", cluster, err)
		}
		return s.fleet.Hub.Uninstall(ctx, cluster, requester)
	})
}
