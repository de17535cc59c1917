package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
)

// withoutAgent is the annotation of an add-on that the suite does not report as available.
const withoutAgent = "test.interlock/without-agent"

// history has the creations and deletions of add-ons on each managed cluster.
type history struct {
	mutex   sync.Mutex
	changes map[string][]string
}

func (h *history) add(cluster, change string) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.changes[cluster] = append(h.changes[cluster], change)
}

func (h *history) changesOn(cluster string) []string {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return slices.Sorted(slices.Values(h.changes[cluster]))
}

// state returns all objects and fields that Interlock may have written on a managed cluster, and all add-ons that were created and
// deleted there. It has neither times nor UIDs, and CLUSTER in place of the cluster's name.
func state(ctx context.Context, cluster string) (string, error) {
	lines := changes.changesOn(cluster)
	var addOns addonv1alpha1.ManagedClusterAddOnList
	if err := hub.Client.List(ctx, &addOns, client.InNamespace(cluster)); err != nil {
		return "", err
	}
	for i := range addOns.Items {
		lines = append(lines, describe(&addOns.Items[i])...)
	}
	var installations dependencyv1alpha1.AddOnInstallationList
	if err := hub.Client.List(ctx, &installations, client.InNamespace(cluster)); err != nil {
		return "", err
	}
	for i := range installations.Items {
		lines = append(lines, describeInstallation(&installations.Items[i], addOns.Items))
	}
	managed := &clusterv1.ManagedCluster{}
	if err := hub.Client.Get(ctx, client.ObjectKey{Name: cluster}, managed); err != nil {
		return "", err
	}
	for label := range managed.Labels {
		if strings.HasPrefix(label, addonv1alpha1.InstallLabelPrefix) {
			lines = append(lines, "label "+label)
		}
	}
	configs, err := describeSettings(ctx, cluster)
	lines = append(lines, configs...)
	slices.Sort(lines)
	return strings.ReplaceAll(strings.Join(lines, "\n"), cluster, "CLUSTER"), err
}

// difference compares the state of a managed cluster with the state at the end of another run.
func difference(ctx context.Context, cluster, end string) (string, error) {
	current, err := state(ctx, cluster)
	return cmp.Diff(strings.Split(end, "\n"), strings.Split(current, "\n")), err
}

// describe omits a condition that reports no failure, because an add-on whose dependencies never failed has no such condition.
func describe(addOn *addonv1alpha1.ManagedClusterAddOn) []string {
	lines := []string{fmt.Sprintf("add-on %s installed by %q, gate %q, finalizers %q, deleted %t, configured by %v", addOn.Name,
		addOn.Labels[addonv1alpha1.InstalledByLabel], addOn.Annotations[addonv1alpha1.GateAnnotation], addOn.Finalizers,
		addOn.DeletionTimestamp != nil, addOn.Spec.Configs)}
	for _, reference := range addOn.Status.ConfigReferences {
		if reference.Resource == "addontemplates" && reference.DesiredConfig != nil && reference.LastAppliedConfig != nil {
			lines = append(lines, fmt.Sprintf("add-on %s runs %q, and OCM rolls %q out", addOn.Name, reference.LastAppliedConfig.Name,
				reference.DesiredConfig.Name))
		}
	}
	for _, related := range addOn.Status.RelatedObjects {
		lines = append(lines, fmt.Sprintf("add-on %s is related to %s %s", addOn.Name, related.Resource, related.Name))
	}
	for _, condition := range addOn.Status.Conditions {
		if condition.Reason == addonv1alpha1.AddonDegradedReasonDependenciesSatisfied {
			continue
		}
		switch condition.Type {
		case addonv1alpha1.ManagedClusterAddOnConditionDegraded, addonv1alpha1.ManagedClusterAddOnConditionInstallable,
			addonv1alpha1.ManagedClusterAddOnConditionUpgradable, addonv1alpha1.ManagedClusterAddOnConditionAvailable:
			lines = append(lines, fmt.Sprintf("add-on %s has %s=%s %s", addOn.Name, condition.Type, condition.Status, condition.Reason))
		}
	}
	return lines
}

// describeInstallation also reports whether the record is about the installed add-on.
func describeInstallation(installation *dependencyv1alpha1.AddOnInstallation, addOns []addonv1alpha1.ManagedClusterAddOn) string {
	current := slices.ContainsFunc(addOns, func(addOn addonv1alpha1.ManagedClusterAddOn) bool {
		return addOn.Name == installation.Name && addOn.UID == installation.Status.UID
	})
	status := installation.Status
	return fmt.Sprintf("installation %s is %s, requested by %v, current %t, unused %t, undone %t", installation.Name, status.Phase,
		installation.Spec.RequestedBy, current, status.UnusedSince != nil, status.Undone != nil)
}

func describeSettings(ctx context.Context, cluster string) ([]string, error) {
	configs := &unstructured.UnstructuredList{}
	configs.SetAPIVersion("addon.open-cluster-management.io/v1alpha1")
	configs.SetKind("AddOnDeploymentConfigList")
	if err := hub.Client.List(ctx, configs, client.InNamespace(cluster)); err != nil {
		return nil, err
	}
	var lines []string
	for _, config := range configs.Items {
		spec, err := json.Marshal(config.Object["spec"])
		if err != nil {
			return nil, err
		}
		record := settings.ReadWritten(config.GetAnnotations()[addonv1alpha1.SettingsAnnotation]).Undone
		lines = append(lines, fmt.Sprintf("settings %s, undone %d times, given up %t: %s",
			config.GetName(), record.Count, !record.Again.IsZero(), spec))
	}
	return lines, nil
}
