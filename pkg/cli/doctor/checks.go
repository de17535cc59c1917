package doctor

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

const (
	webhookName  = "interlock-webhook"
	agentAddOn   = "interlock-agent"
	registration = "clustermanagementaddons.addon.open-cluster-management.io"
)

// get reads an object; nil where there is none, or no such kind.
func (h *hub) get(ctx context.Context, group, version, kind string, key client.ObjectKey) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
	err := h.Get(ctx, key, object)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, nil //nolint:nilnil // no error: there is none
	case err != nil:
		return nil, err
	}
	return object, nil
}

func openClusterManagement(ctx context.Context, h *hub) []result {
	version, _, err := fleet.Objects{Reader: h}.OCMVersion(ctx)
	switch {
	case err != nil:
		return unread("The version of Open Cluster Management", err)
	case version == "":
		return []result{{note, "Open Cluster Management does not report its version: its CRDs were applied by hand", ""}}
	default:
		return []result{{well, fmt.Sprintf("Open Cluster Management %s, managed clusters: %d", version, len(h.fleet.Names())), ""}}
	}
}

func addonManager(ctx context.Context, h *hub) []result {
	return h.deployment(ctx, names.AddonManager, "Dependencies are not evaluated without it")
}

// deployment checks that all replicas of a part are ready.
func (h *hub) deployment(ctx context.Context, name, without string) []result {
	look := fmt.Sprintf("kubectl -n %s describe deployment %s", h.namespace, name)
	object, err := h.get(ctx, "apps", "v1", "Deployment", client.ObjectKey{Namespace: h.namespace, Name: name})
	if err != nil {
		return unread("The Deployment "+name, err)
	}
	if object == nil {
		return []result{{unwell, fmt.Sprintf("%s is not installed in %s. %s", name, h.namespace, without), "docs/install.md, or name its namespace with --interlock-namespace"}}
	}
	wanted, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	ready, _, _ := unstructured.NestedInt64(object.Object, "status", "readyReplicas")
	if ready == 0 || ready < wanted {
		return []result{{unwell, fmt.Sprintf("%s has %d of %d replicas ready. %s", name, ready, wanted, without), look}}
	}
	containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
	image := ""
	if len(containers) > 0 {
		first, _ := containers[0].(map[string]any)
		image, _ = first["image"].(string)
	}
	return []result{{well, fmt.Sprintf("%s runs with %d replicas of %s", name, ready, image), ""}}
}

func leader(ctx context.Context, h *hub) []result {
	lease, err := h.get(ctx, "coordination.k8s.io", "v1", "Lease", client.ObjectKey{Namespace: h.namespace, Name: names.AddonManager})
	if err != nil {
		return unread("The lease of the leader", err)
	}
	if lease == nil {
		return []result{{unwell, "No replica of addon-manager has ever led", fmt.Sprintf("kubectl -n %s logs deployment/%s", h.namespace, names.AddonManager)}}
	}
	holder, _, _ := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
	renewed, _, _ := unstructured.NestedString(lease.Object, "spec", "renewTime")
	seconds, _, _ := unstructured.NestedInt64(lease.Object, "spec", "leaseDurationSeconds")
	at, err := time.Parse(time.RFC3339Nano, renewed)
	if holder == "" || err != nil || h.now.Sub(at) > time.Duration(seconds)*time.Second {
		return []result{{
			unwell, "No replica of addon-manager leads, so nothing is evaluated. The lease was renewed last at " + renewed,
			fmt.Sprintf("kubectl -n %s logs deployment/%s", h.namespace, names.AddonManager),
		}}
	}
	return []result{{well, holder + " leads", ""}}
}

func webhook(ctx context.Context, h *hub) []result {
	results := h.deployment(ctx, webhookName, "Declarations are accepted unchecked without it")
	configuration, err := h.get(ctx, "admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", client.ObjectKey{Name: webhookName})
	if err != nil {
		return append(results, unread("The configuration of the webhook", err)...)
	}
	if configuration == nil {
		return append(results, result{unwell, "The API server is not configured to call the webhook", "helm upgrade, or kubectl apply -k deploy/hub"})
	}
	for _, hook := range sliceOf(configuration, "webhooks") {
		if bundle, _, _ := unstructured.NestedString(hook, "clientConfig", "caBundle"); bundle == "" {
			return append(results, result{
				unwell, "The API server does not trust the webhook: its configuration has no CA", fmt.Sprintf("kubectl -n %s logs deployment/%s", h.namespace, names.AddonManager),
			})
		}
	}
	return append(results, result{well, "The API server trusts the webhook", ""})
}

func sliceOf(object *unstructured.Unstructured, field string) (items []map[string]any) {
	all, _, _ := unstructured.NestedSlice(object.Object, field)
	for _, one := range all {
		if item, ok := one.(map[string]any); ok {
			items = append(items, item)
		}
	}
	return items
}

func guarded(ctx context.Context, h *hub) []result {
	for _, form := range []struct{ version, kind string }{
		{"v1", "MutatingAdmissionPolicy"}, {"v1beta1", "MutatingAdmissionPolicy"}, {"v1", "MutatingWebhookConfiguration"},
	} {
		object, err := h.get(ctx, "admissionregistration.k8s.io", form.version, form.kind, client.ObjectKey{Name: names.Guard})
		if err != nil {
			return unread("The guard", err)
		}
		if object != nil {
			return []result{{well, "The guard is installed, as a " + form.kind, ""}}
		}
	}
	return []result{{note, "No guard is installed: OCM's agent can set Available to True for a moment where a Required dependency fails", ""}}
}

func grafted(ctx context.Context, h *hub) []result {
	crd, err := h.get(ctx, "apiextensions.k8s.io", "v1", "CustomResourceDefinition", client.ObjectKey{Name: registration})
	switch {
	case err != nil:
		return unread("OCM's CRD of ClusterManagementAddOns", err)
	case crd == nil:
		return []result{{unwell, "There is no CRD of ClusterManagementAddOns", "is this an Open Cluster Management hub? Name another with --context"}}
	case crd.GetAnnotations()[names.GraftRecord] != "":
		return []result{{well, "OCM's CRD is grafted: authors can declare by field", ""}}
	default:
		return []result{{note, "OCM's CRD is not grafted: authors declare by annotation, unless the CRD is your own", ""}}
	}
}

// agents counts addon-agents on clusters that can be reached.
func agents(_ context.Context, h *hub) []result {
	running, silent, first := 0, 0, ""
	for _, cluster := range h.fleet.Names() {
		object := h.fleet.Object(cluster)
		addOn := h.fleet.AddOnOn(client.ObjectKey{Namespace: cluster, Name: agentAddOn})
		if addOn == nil || object == nil || fleet.ClusterStatus(object) != metav1.ConditionTrue {
			continue
		}
		if available := fleet.Available(addOn); available != nil && available.Status == metav1.ConditionTrue {
			running++
			continue
		}
		silent++
		if first == "" {
			first = cluster
		}
	}
	switch {
	case running+silent == 0:
		return []result{{note, "addon-agent is installed on no managed cluster: dependencies on APIs and running versions cannot be evaluated", ""}}
	case silent > 0:
		return []result{{
			unwell, fmt.Sprintf("addon-agent is not available on %d of %d managed clusters, such as %s", silent, running+silent, first),
			fmt.Sprintf("kubectl describe managedclusteraddon %s -n %s", agentAddOn, first),
		}}
	default:
		return []result{{well, fmt.Sprintf("addon-agent is available on all managed clusters that have it: %d", running), ""}}
	}
}

func declarations(_ context.Context, h *hub) (results []result) {
	declaring := 0
	for _, addOn := range h.fleet.Declared.AddOns() {
		if !h.fleet.Declared.Declaration(addOn).Empty() {
			declaring++
		}
		if h.fleet.Declared.Known(addOn) {
			continue
		}
		for _, problem := range h.fleet.Declared.Problems(addOn) {
			results = append(results, result{
				unwell, fmt.Sprintf("What %s declares cannot be used: %s", addOn, problem.Finding), "kubectl edit clustermanagementaddon " + addOn,
			})
		}
	}
	if len(results) == 0 {
		results = []result{{well, fmt.Sprintf("%d of %d add-ons declare dependencies, and all declarations can be used", declaring, len(h.fleet.Registrations)), ""}}
	}
	return results
}

func lostClusters(_ context.Context, h *hub) []result {
	lost := 0
	for i := range h.fleet.Clusters {
		if fleet.ClusterStatus(&h.fleet.Clusters[i]) == metav1.ConditionUnknown {
			lost++
		}
	}
	if lost == 0 {
		return []result{{well, "All managed clusters can be reached", ""}}
	}
	return []result{{note, fmt.Sprintf("%d of %d managed clusters cannot be reached: %s", lost, len(h.fleet.Names()), verdictsOnLost(h)), "kubectl get managedclusters"}}
}
