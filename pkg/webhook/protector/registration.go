package protector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	eventsof "open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// RegistrationPath is the path for reviews of ClusterManagementAddOns.
const RegistrationPath = "/protect-clustermanagementaddon"

// fleetReviewTimeout is less than the API server waits for the response to a request that affects the whole fleet.
const fleetReviewTimeout = 4500 * time.Millisecond

// RegistrationValidator reviews ClusterManagementAddOns:
//
//   - Deletions: Kubernetes then deletes their ManagedClusterAddOns on all managed clusters.
//   - Changes of install strategies: OCM then deletes the ManagedClusterAddOns on clusters that no Placement selects any more.
//   - Changes of versions, AddOnTemplates and declarations: installed add-ons may contradict them.
type RegistrationValidator struct{ *fleetReviewer }

var _ admission.Handler = &RegistrationValidator{}

// Handle implements admission.Handler.
func (v *RegistrationValidator) Handle(ctx context.Context, request admission.Request) admission.Response {
	ctx, cancel := context.WithTimeout(ctx, fleetReviewTimeout)
	defer cancel()
	oldAddOn, newAddOn := &addonv1alpha1.ClusterManagementAddOn{}, &addonv1alpha1.ClusterManagementAddOn{}
	err := errors.Join(decodeRegistration(request.OldObject.Raw, oldAddOn), decodeRegistration(request.Object.Raw, newAddOn))
	if err != nil {
		return allowUnchecked(requirementConcern(request.Name), err)
	}
	if !oldAddOn.DeletionTimestamp.IsZero() || oldAddOn.Name == names.AgentAddOn {
		return admission.Allowed("")
	}
	switch request.Operation {
	case admissionv1.Delete:
		return v.handleDeletion(ctx, request, oldAddOn.Name)
	case admissionv1.Update:
		review, err := v.reviewStrategy(ctx, oldAddOn, newAddOn)
		response := v.respond(request, review, requirementConcern(oldAddOn.Name), err)
		if !response.Allowed {
			return response
		}
		review, err = v.reviewChange(ctx, oldAddOn, newAddOn)
		return v.respond(request, review, contradictionConcern(oldAddOn.Name), err).WithWarnings(response.Warnings...)
	default:
		return admission.Allowed("")
	}
}

// handleDeletion responds to the deletion of a registration.
func (v *RegistrationValidator) handleDeletion(ctx context.Context, request admission.Request, addOn string) admission.Response {
	if orphans(request) {
		return admission.Allowed("")
	}
	everywhere := func(string) bool { return true }
	review, err := v.reviewRemoval(ctx, addOn, func(context.Context) (clusterFilter, error) { return everywhere, nil })
	review.subject = removalSubject(addOn)
	response := v.respond(request, review, requirementConcern(addOn), err)
	findObjects := func() (protection.Objects, error) { return v.orphanedObjects(ctx, addOn) }
	return warnOfObjects(request, err, response, addOn, findObjects)
}

// decodeRegistration decodes a registration of either version of the API.
func decodeRegistration(raw []byte, addOn *addonv1alpha1.ClusterManagementAddOn) error {
	if err := decode(raw, addOn); err != nil || addOn.APIVersion != addonv1beta1.GroupVersion.String() {
		return err
	}
	var renamed struct {
		Spec struct {
			DefaultConfigs []ocmv1alpha1.AddOnConfig `json:"defaultConfigs"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(raw, &renamed); err != nil {
		return fmt.Errorf("read the object: %w", err)
	}
	addOn.Spec.SupportedConfigs = nil //nolint:staticcheck // v1alpha1 has no other field for it
	for _, config := range renamed.Spec.DefaultConfigs {
		//nolint:staticcheck // v1alpha1 has no other field for it
		addOn.Spec.SupportedConfigs = append(addOn.Spec.SupportedConfigs, ocmv1alpha1.ConfigMeta{
			ConfigGroupResource: config.ConfigGroupResource, DefaultConfig: &config.ConfigReferent,
		})
	}
	return nil
}

// orphans reports whether Kubernetes keeps the objects that the deleted object owns.
func orphans(request admission.Request) bool {
	var options metav1.DeleteOptions
	return json.Unmarshal(request.Options.Raw, &options) == nil && ptr.Deref(options.PropagationPolicy, "") == metav1.DeletePropagationOrphan
}

// clusterFilter reports whether a request removes an add-on from a managed cluster where it is installed.
type clusterFilter func(cluster string) bool

// reviewRemoval reviews the removal of an add-on from the managed clusters of a filter. A nil filter means that the clusters are not
// known: then nothing is reviewed.
func (v *RegistrationValidator) reviewRemoval(
	ctx context.Context, name string, findClusters func(context.Context) (clusterFilter, error),
) (outcome, error) {
	dependents, err := v.declarations.dependents(ctx, name)
	if err != nil || len(dependents) == 0 {
		return outcome{}, err
	}
	evaluator, release, err := v.beginProtected(ctx)
	if err != nil || release == nil {
		return outcome{}, err
	}
	defer release()
	var stored addonv1alpha1.ClusterManagementAddOn
	if err := v.live.Get(ctx, client.ObjectKey{Name: name}, &stored); err != nil {
		return outcome{}, client.IgnoreNotFound(err)
	}
	removes, err := findClusters(ctx)
	if err != nil || removes == nil {
		return outcome{}, err
	}
	review, err := v.reviewRemovals(ctx, evaluator, removals{
		addOns:  []string{name},
		removes: func(addOn, cluster string) bool { return addOn == name && removes(cluster) },
	})
	review.object, review.kind = &stored, eventsof.ClusterManagementAddOn
	review.kubectlArgs = "clustermanagementaddon " + name
	review.forceReason = stored.Annotations[addonv1alpha1.ForceAnnotation]
	return review, err
}

// reviewStrategy reviews another install strategy: OCM removes the add-on from all managed clusters that none of its Placements
// selects, also from clusters on which another writer installed it.
func (v *RegistrationValidator) reviewStrategy(
	ctx context.Context, oldAddOn, newAddOn *addonv1alpha1.ClusterManagementAddOn,
) (outcome, error) {
	oldInstall, newInstall := catalog.InstallOf(oldAddOn), catalog.InstallOf(newAddOn)
	if !newInstall.Drops(oldInstall) {
		return outcome{}, nil
	}
	review, err := v.reviewRemoval(ctx, oldAddOn.Name, func(ctx context.Context) (clusterFilter, error) {
		return v.findUnselected(ctx, oldInstall, newInstall)
	})
	review.subject = fmt.Sprintf("the new install strategy of add-on '%s'", text.Name(oldAddOn.Name))
	review.forceReason = newAddOn.Annotations[addonv1alpha1.ForceAnnotation]
	return review, err
}

// findUnselected returns a filter for the managed clusters that no Placement selects any more. For a new Placement that has no
// PlacementDecisions yet, it evaluates the predicates. It returns nil if such a Placement does not exist, because GitOps may create it
// later.
func (v *fleetReviewer) findUnselected(ctx context.Context, oldInstall, newInstall catalog.Install) (clusterFilter, error) {
	selected := sets.New[string]()
	for _, placement := range newInstall.Placements {
		clusters, decided, err := v.readSelection(ctx, placement)
		if err == nil && !decided && !slices.Contains(oldInstall.Placements, placement) {
			clusters, err = v.predictSelection(ctx, placement)
		}
		if err != nil || clusters == nil {
			return nil, err
		}
		selected = selected.Union(clusters)
	}
	return func(cluster string) bool { return !selected.Has(cluster) }, nil
}

// predictSelection returns the managed clusters that a Placement without PlacementDecisions can select. It returns nil if the Placement
// does not exist.
func (v *fleetReviewer) predictSelection(ctx context.Context, key types.NamespacedName) (sets.Set[string], error) {
	stored := &clusterv1beta1.Placement{}
	if err := v.live.Get(ctx, key, stored); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	var clusters clusterv1.ManagedClusterList
	if err := v.live.List(ctx, &clusters, fromCache()); err != nil {
		return nil, fmt.Errorf("list managed clusters: %w", err)
	}
	return v.evaluatePlacement(stored, clusters.Items)
}
