package main

import (
	"context"
	"encoding/json"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// register registers an add-on that OCM deploys from an AddOnTemplate with one Deployment.
func (f *fleet) register(ctx context.Context, name string, needs []string, ordered bool) error {
	return f.registerDeclaring(ctx, name, declaration(needs, ordered))
}

// registerDeclaring registers an add-on with a declaration. OCM deploys it from an AddOnTemplate with one Deployment.
func (f *fleet) registerDeclaring(ctx context.Context, name, declares string) error {
	template, err := ocm.Template(name)
	if err != nil {
		return err
	}
	if err := f.hub.Client.Create(ctx, template); err != nil {
		return err
	}
	registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{
		Name: name, Annotations: map[string]string{interlockv1alpha1.DependenciesAnnotation: declares},
	}}
	registration.Spec.InstallStrategy.Type = addonv1alpha1.AddonInstallStrategyManual
	registration.Spec.SupportedConfigs = []addonv1alpha1.ConfigMeta{{ //nolint:staticcheck // v1alpha1 has no other field for it
		ConfigGroupResource: addonv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupName, Resource: "addontemplates"},
		DefaultConfig:       &addonv1alpha1.ConfigReferent{Name: name},
	}}
	return f.hub.Client.Create(ctx, registration)
}

// simulateAgents makes the agents report each work as applied and running, and again when OCM changes it, like OCM's
// work agent.
func (f *fleet) simulateAgents(ctx context.Context, informer cache.Informer) error {
	works := make(chan *workv1.ManifestWork, 10_000)
	changed := func(object any) {
		if work, ok := object.(*workv1.ManifestWork); ok && !reported(work) {
			works <- work.DeepCopy()
		}
	}
	for range writers {
		go func() {
			for {
				select {
				case work := <-works:
					// A deleted work has no agent.
					_ = f.hub.Client.Status().Patch(ctx, work, client.RawPatch(types.MergePatchType, running(work)))
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	_, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: changed, UpdateFunc: func(_, object any) { changed(object) },
	})
	return err
}

// reported reports whether an agent has reported the current version of the work.
func reported(work *workv1.ManifestWork) bool {
	available := meta.FindStatusCondition(work.Status.Conditions, workv1.WorkAvailable)
	return available != nil && available.ObservedGeneration == work.Generation
}

// running returns the status of a work whose only manifest is a Deployment that runs.
func running(work *workv1.ManifestWork) []byte {
	now := metav1.Now()
	conditionOf := func(kind string) metav1.Condition {
		return metav1.Condition{
			Type: kind, Status: metav1.ConditionTrue, Reason: "Simulated", LastTransitionTime: now, ObservedGeneration: work.Generation,
		}
	}
	conditions := []metav1.Condition{conditionOf(workv1.WorkApplied), conditionOf(workv1.WorkAvailable)}
	var values []workv1.FeedbackValue
	for _, name := range []string{"Replicas", "ReadyReplicas", "AvailableReplicas"} {
		values = append(values, workv1.FeedbackValue{Name: name, Value: workv1.FieldValue{Type: workv1.Integer, Integer: ptr.To[int64](1)}})
	}
	var manifests []workv1.ManifestCondition
	for i, manifest := range work.Spec.Workload.Manifests {
		object := &metav1.PartialObjectMetadata{}
		_ = json.Unmarshal(manifest.Raw, object) // the manifests are from register
		manifests = append(manifests, workv1.ManifestCondition{
			ResourceMeta: workv1.ManifestResourceMeta{
				Ordinal: int32(i), Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments",
				Namespace: object.Namespace, Name: object.Name,
			},
			Conditions: conditions, StatusFeedbacks: workv1.StatusFeedbackResult{Values: values},
		})
	}
	// Marshaling types of the API does not fail.
	patch, _ := json.Marshal(map[string]any{"status": workv1.ManifestWorkStatus{
		Conditions: conditions, ResourceStatus: workv1.ManifestResourceStatus{Manifests: manifests},
	}})
	return patch
}
