package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
)

const (
	// maxLabelRatio is the maximum ratio of the time with Interlock's labels to the time with a user's.
	maxLabelRatio = 1.1
	// labelClusters is the number of managed clusters that Interlock changes at once.
	labelClusters = 20
	// placements is the namespace of the Placements.
	placements = "places"
	// userLabels is the prefix of the labels that a user sets.
	userLabels = "simulated.example.com/"
)

// compareLabels measures the time until add-ons that OCM's Placements install are available on each managed cluster: with
// labels that a user sets on all clusters, and with the labels that Interlock sets because one add-on needs them.
func compareLabels(ctx context.Context, o options) error {
	o.clusters = labelClusters
	fmt.Printf("%d add-ons on %d managed clusters, installed by OCM's Placements\n", o.labels, o.clusters)
	took := map[bool][]time.Duration{}
	for turn := range 2 * o.rounds {
		byInterlock := turn%4 == 0 || turn%4 == 3 // in turns
		err := onHub(ctx, o, func(f *fleet) error {
			duration, err := f.installByLabel(ctx, o.labels, byInterlock)
			if err != nil {
				return err
			}
			fmt.Printf("  %-20s %s\n", map[bool]string{true: "Interlock's labels", false: "a user's labels"}[byInterlock],
				duration.Round(time.Millisecond))
			took[byInterlock] = append(took[byInterlock], duration)
			return nil
		})
		if err != nil {
			return err
		}
	}
	slices.Sort(took[true])
	slices.Sort(took[false])
	ratio := took[true][o.rounds/2].Seconds() / took[false][o.rounds/2].Seconds()
	fmt.Printf("  ratio %.2f, bound %.2f\n", ratio, maxLabelRatio)
	if ratio > maxLabelRatio {
		return errors.New("a bound is missed")
	}
	return nil
}

// installByLabel registers add-ons with Placements, has labels set on all clusters, and returns the time until all add-ons
// are available.
func (f *fleet) installByLabel(ctx context.Context, count int, byInterlock bool) (time.Duration, error) {
	if err := f.createPlacementNamespace(ctx); err != nil {
		return 0, err
	}
	var names []string
	var addOns []*addonv1alpha1.ManagedClusterAddOn
	for i := range count {
		name := fmt.Sprintf("placed-%02d", i)
		if err := f.registerPlaced(ctx, name, byInterlock); err != nil {
			return 0, err
		}
		names = append(names, name)
		for _, cluster := range f.clusters {
			addOns = append(addOns, installed(cluster, name, false))
		}
	}
	act := func(ctx context.Context, i int) error { return f.label(ctx, f.clusters[i], names) }
	if byInterlock {
		edges := make([]string, len(names))
		for i, name := range names {
			edges[i] = "{name: " + name + ", install: Auto}"
		}
		if err := f.registerDeclaring(ctx, "requester", "{dependencies: ["+strings.Join(edges, ", ")+"]}"); err != nil {
			return 0, err
		}
		act = func(ctx context.Context, i int) error {
			return f.hub.Client.Create(ctx, installed(f.clusters[i], "requester", false))
		}
	}
	f.progress.expect(addOns)
	began := time.Now()
	if err := f.forEach(ctx, len(f.clusters), act); err != nil {
		return 0, err
	}
	err := f.progress.await(ctx)
	return time.Since(began), err
}

// createPlacementNamespace creates a namespace whose Placements select from all managed clusters.
func (f *fleet) createPlacementNamespace(ctx context.Context) error {
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: placements, Name: "global"}}
	binding.Spec.ClusterSet = "global"
	return errors.Join(
		f.hub.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: placements}}),
		f.hub.Client.Create(ctx, binding))
}

// registerPlaced registers an add-on with two Placements, as the consent to Interlock needs, that select its label.
func (f *fleet) registerPlaced(ctx context.Context, name string, byInterlock bool) error {
	if err := f.registerDeclaring(ctx, name, "{dependencies: []}"); err != nil {
		return err
	}
	label := userLabels + name
	if byInterlock {
		label = catalog.InstallLabel(name)
	}
	var listed []addonv1alpha1.PlacementStrategy
	for _, suffix := range []string{"-1", "-2"} {
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: placements, Name: name + suffix}}
		placement.Spec.Tolerations = []clusterv1beta1.Toleration{{Operator: clusterv1beta1.TolerationOpExists}}
		placement.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: label, Operator: metav1.LabelSelectorOpExists}}},
		}}}
		if err := f.hub.Client.Create(ctx, placement); err != nil {
			return err
		}
		listed = append(listed, addonv1alpha1.PlacementStrategy{
			PlacementRef: addonv1alpha1.PlacementRef{Namespace: placements, Name: placement.Name},
		})
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"installStrategy": addonv1alpha1.InstallStrategy{
		Type: addonv1alpha1.AddonInstallStrategyPlacements, Placements: listed,
	}}})
	if err != nil {
		return err
	}
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return f.hub.Client.Patch(ctx, registration, client.RawPatch(types.MergePatchType, patch))
}

// label sets the labels of all add-ons on a managed cluster in one write.
func (f *fleet) label(ctx context.Context, cluster string, names []string) error {
	labels := map[string]string{}
	for _, name := range names {
		labels[userLabels+name] = "true"
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	if err != nil {
		return err
	}
	return f.hub.Client.Patch(ctx, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}},
		client.RawPatch(types.MergePatchType, patch))
}
