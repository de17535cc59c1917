package protection

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
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	eventsof "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// RegistrationPath is the path at which changes of ClusterManagementAddOns are reviewed.
const RegistrationPath = "/protect-clustermanagementaddon"

// answerForFleetWithin is less than the API server waits for an answer on the whole fleet.
const answerForFleetWithin = 4500 * time.Millisecond

// RegistrationValidator reviews deletions of ClusterManagementAddOns, with which Kubernetes deletes their
// ManagedClusterAddOns on all managed clusters, and changes of their install strategies, for which OCM deletes
// them on those that no Placement selects any more; and of their versions, AddOnTemplates and declarations, which installed
// add-ons may contradict.
type RegistrationValidator struct{ *fleetReviewer }

var _ admission.Handler = &RegistrationValidator{}

// Handle implements admission.Handler.
func (v *RegistrationValidator) Handle(ctx context.Context, request admission.Request) admission.Response {
	ctx, cancel := context.WithTimeout(ctx, answerForFleetWithin)
	defer cancel()
	before, after := &addonv1alpha1.ClusterManagementAddOn{}, &addonv1alpha1.ClusterManagementAddOn{}
	if err := errors.Join(decodeRegistration(request.OldObject.Raw, before), decodeRegistration(request.Object.Raw, after)); err != nil {
		return unchecked(requiring(request.Name), err)
	}
	if !before.DeletionTimestamp.IsZero() || before.Name == names.AgentAddOn {
		return admission.Allowed("")
	}
	switch request.Operation {
	case admissionv1.Delete:
		if orphans(request) {
			return admission.Allowed("")
		}
		review, err := v.review(ctx, before.Name, func(context.Context) (leaves, error) { return func(string) bool { return true }, nil })
		review.does = removing(before.Name)
		response := v.respond(request, review, requiring(before.Name), err)
		return warnOfObjects(request, err, response, before.Name, func() (protection.Objects, error) { return v.leftObjects(ctx, before.Name) })
	case admissionv1.Update:
		review, err := v.reviewStrategy(ctx, before, after)
		response := v.respond(request, review, requiring(before.Name), err)
		if !response.Allowed {
			return response
		}
		review, err = v.reviewChange(ctx, before, after)
		return v.respond(request, review, contradicting(before.Name), err).WithWarnings(response.Warnings...)
	default:
		return admission.Allowed("")
	}
}

// decodeRegistration decodes a registration of either version of the API.
func decodeRegistration(raw []byte, into *addonv1alpha1.ClusterManagementAddOn) error {
	if err := decode(raw, into); err != nil || into.APIVersion != addonv1beta1.GroupVersion.String() {
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
	into.Spec.SupportedConfigs = nil //nolint:staticcheck // v1alpha1 has no other field for it
	for _, config := range renamed.Spec.DefaultConfigs {
		//nolint:staticcheck // v1alpha1 has no other field for it
		into.Spec.SupportedConfigs = append(into.Spec.SupportedConfigs, ocmv1alpha1.ConfigMeta{
			ConfigGroupResource: config.ConfigGroupResource, DefaultConfig: &config.ConfigReferent,
		})
	}
	return nil
}

// orphans reports whether Kubernetes keeps what the object owns.
func orphans(request admission.Request) bool {
	var options metav1.DeleteOptions
	return json.Unmarshal(request.Options.Raw, &options) == nil && ptr.Deref(options.PropagationPolicy, "") == metav1.DeletePropagationOrphan
}

// leaves reports whether an add-on is removed from a managed cluster where it is installed; nil: that is not known.
type leaves func(cluster string) bool

// review finds what the removal of an add-on from managed clusters would break.
func (v *RegistrationValidator) review(ctx context.Context, name string, find func(context.Context) (leaves, error)) (found, error) {
	dependents, err := v.declared.dependents(ctx, name)
	if err != nil || len(dependents) == 0 {
		return found{}, err
	}
	under, done, err := v.beginProtected(ctx)
	if done == nil {
		return found{}, err
	}
	defer done()
	var stored addonv1alpha1.ClusterManagementAddOn
	if err := v.live.Get(ctx, client.ObjectKey{Name: name}, &stored); err != nil {
		return found{}, client.IgnoreNotFound(err)
	}
	leaves, err := find(ctx)
	if err != nil || leaves == nil {
		return found{}, err
	}
	review, err := v.reviewFleet(ctx, under, removals{[]string{name}, func(addOn, cluster string) bool { return addOn == name && leaves(cluster) }})
	review.object, review.kind, review.forced = &stored, eventsof.ClusterManagementAddOn, stored.Annotations[addonv1alpha1.ForceAnnotation]
	review.named = "clustermanagementaddon " + name
	return review, err
}

// reviewStrategy finds what another install strategy would break: OCM removes the add-on from all managed clusters
// that none of its Placements selects, however it was installed.
func (v *RegistrationValidator) reviewStrategy(ctx context.Context, before, after *addonv1alpha1.ClusterManagementAddOn) (found, error) {
	was, is := catalog.InstallOf(before), catalog.InstallOf(after)
	if !is.Drops(was) {
		return found{}, nil
	}
	review, err := v.review(ctx, before.Name, func(ctx context.Context) (leaves, error) { return v.unselected(ctx, was, is) })
	review.does = fmt.Sprintf("the new install strategy of add-on '%s'", text.Name(before.Name))
	review.forced = after.Annotations[addonv1alpha1.ForceAnnotation]
	return review, err
}

// unselected finds the managed clusters that no Placement selects any more. A new one that has not selected yet selects what its
// predicates do. That is not known where the Placement does not exist: GitOps may create it later.
func (v *fleetReviewer) unselected(ctx context.Context, was, is catalog.Install) (leaves, error) {
	selected := sets.New[string]()
	for _, placement := range is.Placements {
		clusters, decided, err := v.selected(ctx, placement)
		if err == nil && !decided && !slices.Contains(was.Placements, placement) {
			clusters, err = v.toSelect(ctx, placement)
		}
		if err != nil || clusters == nil {
			return nil, err
		}
		selected = selected.Union(clusters)
	}
	return func(cluster string) bool { return !selected.Has(cluster) }, nil
}

// toSelect returns the managed clusters that a Placement can select which has not selected yet; nil: it does not exist, or how
// many it selects is not known.
func (v *fleetReviewer) toSelect(ctx context.Context, key types.NamespacedName) (sets.Set[string], error) {
	stored := &clusterv1beta1.Placement{}
	if err := v.live.Get(ctx, key, stored); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	var clusters clusterv1.ManagedClusterList
	if err := v.live.List(ctx, &clusters, fromCache()); err != nil {
		return nil, fmt.Errorf("list managed clusters: %w", err)
	}
	return v.selection(stored, clusters.Items)
}
