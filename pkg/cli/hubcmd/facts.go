package hubcmd

import (
	"context"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/components"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/preflight"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/offline/airgap/registry"
)

// facts loads the inputs of the checks. It writes nothing.
func (a *application) facts(ctx context.Context) (*preflight.Facts, error) {
	facts := &preflight.Facts{
		Upgrade: a.upgrade, Namespace: a.namespace, Version: a.release.Version(), KubernetesRange: a.release.Chart.Metadata.KubeVersion,
		Kubernetes: a.kubernetes, Record: a.current, AllowDowngrade: a.allowDowngrade, Registry: a.registry, Unbuilt: a.unbuilt,
	}
	for _, load := range []func(context.Context, *preflight.Facts) error{a.loadOCM, a.loadPlacement, a.loadPlan, a.loadImages} {
		if err := load(ctx, facts); err != nil {
			return nil, err
		}
	}
	return facts, nil
}

func (a *application) loadOCM(ctx context.Context, facts *preflight.Facts) error {
	a.source.ShowProgress("Reading the version of Open Cluster Management")
	_, err := a.hub.RESTMapper().RESTMapping(addonv1alpha1.GroupVersion.WithKind("ManagedClusterAddOn").GroupKind())
	if meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return err
	}
	facts.OCM.Installed = true
	// Without the right to read the CRD, the version stays unknown, which is no reason not to install.
	version, _, err := fleet.Objects{Reader: a.hub}.OCMVersion(ctx)
	if err == nil || apierrors.IsForbidden(err) {
		facts.OCM.Version = version
		return nil
	}
	return err
}

// globalPlacement is the default of agent.placement.
const globalPlacement = "open-cluster-management-global-set/global"

// loadPlacement finds the Placement that the rendered registration of addon-agent names.
func (a *application) loadPlacement(ctx context.Context, facts *preflight.Facts) error {
	for _, registration := range a.find("ClusterManagementAddOn") {
		if registration.GetName() != names.AgentAddOn {
			continue
		}
		for _, reference := range components.MapsIn(registration.Object, "spec", "installStrategy", "placements") {
			key := types.NamespacedName{}
			key.Namespace, _, _ = unstructured.NestedString(reference, "namespace")
			key.Name, _, _ = unstructured.NestedString(reference, "name")
			facts.Placement = &preflight.Placement{Name: key.String(), Creatable: key.String() == globalPlacement}
			err := a.hub.Get(ctx, key, &clusterv1beta1.Placement{})
			facts.Placement.Exists = err == nil
			if err != nil && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
				return err
			}
		}
	}
	return nil
}

func (a *application) loadPlan(ctx context.Context, facts *preflight.Facts) error {
	if !facts.OCM.Installed {
		return nil // the objects of a hub cannot be tried on another cluster
	}
	a.source.ShowProgress("Trying the objects of Interlock " + a.release.Version())
	err := a.hub.Get(ctx, types.NamespacedName{Name: a.namespace}, &corev1.Namespace{})
	a.namespaceExists = err == nil
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsForbidden(err) {
		return err
	}
	if facts.Plan, err = a.set.Try(ctx, a.rendered.Objects, a.namespaceExists, a.takeOwnership); err != nil {
		return err
	}
	denied, err := a.denied(ctx, facts.Plan.Untried, !a.namespaceExists)
	facts.Denied = slices.Concat(denied, a.rendered.Denied)
	return err
}

// denied returns the rights that the user lacks, and that no dry run has tried.
func (a *application) denied(ctx context.Context, untried []*unstructured.Unstructured, needsNamespace bool) ([]string, error) {
	needed, err := a.neededRights(untried)
	if err != nil {
		return nil, err
	}
	if needsNamespace {
		needed = append(needed, authorizationv1.ResourceAttributes{Verb: "create", Resource: "namespaces"})
	}
	var denied []string
	for _, right := range needed {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &right}}
		if err := a.hub.Create(ctx, review); err != nil {
			return nil, err
		}
		if !review.Status.Allowed {
			denied = append(denied, strings.TrimSuffix(right.Verb+" "+right.Resource+"."+right.Group, "."))
		}
	}
	return denied, nil
}

// neededRights returns rights on the kinds of all objects: to list and delete them later, and to apply those that were not tried.
func (a *application) neededRights(untried []*unstructured.Unstructured) ([]authorizationv1.ResourceAttributes, error) {
	var needed []authorizationv1.ResourceAttributes
	need := func(resource authorizationv1.ResourceAttributes, verbs ...string) {
		for _, verb := range verbs {
			if resource.Verb = verb; !slices.Contains(needed, resource) {
				needed = append(needed, resource)
			}
		}
	}
	need(authorizationv1.ResourceAttributes{Resource: "secrets", Namespace: a.namespace}, "get", "create", "patch", "delete") // for the record
	for _, object := range a.rendered.Objects {
		mapping, err := a.hub.RESTMapper().RESTMapping(object.GroupVersionKind().GroupKind())
		if meta.IsNoMatchError(err) {
			continue // the plan has a problem with it
		}
		if err != nil {
			return nil, err
		}
		resource := authorizationv1.ResourceAttributes{
			Group: mapping.Resource.Group, Resource: mapping.Resource.Resource, Namespace: object.GetNamespace(),
		}
		need(resource, "list", "delete")
		if slices.Contains(untried, object) {
			need(resource, "get", "create", "patch")
		}
	}
	return needed, nil
}

// loadImages checks the registry: whether it accepts images, or has the images that the pods need.
func (a *application) loadImages(ctx context.Context, facts *preflight.Facts) error {
	if a.registry != "" {
		a.source.ShowProgress("Trying to push to " + a.registry)
		facts.PushErr = a.tryPush(ctx)
		facts.PushDenied = registry.IsDenied(facts.PushErr)
		return nil
	}
	for _, reference := range a.imagesOfPods() {
		a.source.ShowProgress("Looking for the image " + reference)
		state := preflight.ImageState{Reference: reference}
		var parsed name.Reference
		if parsed, state.Err = a.client().Image(reference); state.Err == nil {
			state.Exists, state.Err = a.client().Has(ctx, parsed)
		}
		facts.Images = append(facts.Images, state)
	}
	return nil
}

// tryPush returns an error unless the registry accepts all images.
func (a *application) tryPush(ctx context.Context) error {
	for _, target := range a.targets {
		if err := a.client().CheckPush(ctx, target); err != nil {
			return err
		}
	}
	return nil
}

// imagesOfPods returns the images of the rendered Deployments, without duplicates.
func (a *application) imagesOfPods() []string {
	var references []string
	for _, deployment := range a.find("Deployment") {
		if image := components.ImageOf(deployment); !slices.Contains(references, image) {
			references = append(references, image)
		}
	}
	return references
}
