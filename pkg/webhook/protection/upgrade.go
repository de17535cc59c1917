package protection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	operatorv1 "open-cluster-management.io/api/operator/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	eventsof "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/text"
)

// UpgradePath is the path at which changes of the ClusterManager are reviewed.
const UpgradePath = "/protect-clustermanager"

// UpgradeValidator reviews other images of the ClusterManager: another version of Open Cluster Management.
type UpgradeValidator struct{ *fleetReviewer }

var _ admission.Handler = &UpgradeValidator{}

// Handle implements admission.Handler.
func (v *UpgradeValidator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	ctx, cancel := context.WithTimeout(ctx, answerForFleetWithin)
	defer cancel()
	const what = "add-ons contradict another version of Open Cluster Management"
	before, after := &operatorv1.ClusterManager{}, &operatorv1.ClusterManager{}
	if err := read(request, before, after); err != nil {
		return unchecked(what, err)
	}
	review, err := v.review(ctx, before, after)
	if unknown := (unknownVersion{}); errors.As(err, &unknown) {
		return admission.Allowed("").WithWarnings(text.OneLine(unknown.Error()))
	}
	return v.respond(request, review, what, err)
}

// images are those of a ClusterManager, by their fields.
func images(manager *operatorv1.ClusterManager) map[string]string {
	return map[string]string{
		"registrationImagePullSpec": manager.Spec.RegistrationImagePullSpec, "workImagePullSpec": manager.Spec.WorkImagePullSpec,
		"placementImagePullSpec": manager.Spec.PlacementImagePullSpec, "addOnManagerImagePullSpec": manager.Spec.AddOnManagerImagePullSpec,
	}
}

// review finds what contradicts the version that other images have. Its error is an unknownVersion where they have none that is known.
func (v *UpgradeValidator) review(ctx context.Context, before, after *operatorv1.ClusterManager) (found, error) {
	changed := protection.UpgradeOf(images(before), images(after))
	if !changed.Changes() || !before.DeletionTimestamp.IsZero() {
		return found{}, nil
	}
	under, done, err := v.beginProtected(ctx)
	if done == nil {
		return found{}, err
	}
	defer done()
	released, err := v.released(ctx, under)
	if err != nil {
		return found{}, err
	}
	affected := protection.AffectedByOCM(under.Evaluator, released.Has)
	if len(affected) == 0 {
		return found{}, nil
	}
	version, known := changed.Version()
	if !known {
		return found{}, v.unchecked(ctx, affected, changed.Err())
	}
	// The images before may have another version than the CRDs.
	was, _ := protection.UpgradeOf(nil, images(before)).Version()
	review, err := v.reviewUpgrade(ctx, upgrade{under, affected, released, version, was})
	if err != nil || review.message == "" {
		return found{}, err
	}
	var stored metav1.PartialObjectMetadata
	stored.SetGroupVersionKind(schema.GroupVersion(operatorv1.GroupVersion).WithKind(eventsof.ClusterManager))
	if err := v.live.Get(ctx, client.ObjectKeyFromObject(after), &stored); err != nil {
		return found{}, client.IgnoreNotFound(err)
	}
	review.object, review.kind, review.forced = &stored, eventsof.ClusterManager, after.Annotations[addonv1alpha1.ForceAnnotation]
	review.does = fmt.Sprintf("Open Cluster Management %s", text.Name(version))
	return review, nil
}

// unknownVersion is the error of images whose version is not known: add-ons were not checked.
type unknownVersion struct {
	// addOns are installed, and may contradict the version.
	addOns []string
	cause  error
}

// Error implements error.
func (u unknownVersion) Error() string {
	return fmt.Sprintf("whether another version of Open Cluster Management contradicts %s (%s) was not checked: %v. "+
		"kubectl addon impact --ocm VERSION checks one", text.Count(len(u.addOns), "add-on"), text.Names(u.addOns, ", "), u.cause)
}

// unchecked returns an unknownVersion with that cause if any of the add-ons is installed.
func (v *UpgradeValidator) unchecked(ctx context.Context, affected []string, cause error) error {
	unknown := unknownVersion{cause: cause}
	for _, addOn := range affected {
		clusters, err := v.where(ctx, addOn)
		if err != nil {
			return err
		}
		if len(clusters) > 0 {
			unknown.addOns = append(unknown.addOns, addOn)
		}
	}
	if len(unknown.addOns) == 0 {
		return nil
	}
	return unknown
}

// released returns the add-ons that are released with Open Cluster Management, and have its version: by the annotation of
// their registrations, or of an AddOnTemplate.
func (v *UpgradeValidator) released(ctx context.Context, under declared) (sets.Set[string], error) {
	read, err := v.declared.read(ctx)
	if err != nil {
		return nil, err
	}
	released := sets.New[string]()
	for _, addOn := range under.AddOns() {
		if (versions.Sources{Registration: under.Version(addOn)}).UseOCM() {
			released.Insert(addOn)
		}
	}
	for i := range read.templates {
		template := &read.templates[i]
		if strings.TrimSpace(versions.OfTemplate(template.Annotations, template.Labels)) == versions.OCM {
			released.Insert(template.Spec.AddonName)
		}
	}
	return released, nil
}

// upgrade is another version of Open Cluster Management.
type upgrade struct {
	under declared
	// affected are the add-ons that it can break, and released those that have its version.
	affected []string
	released sets.Set[string]
	version  string
	// was is that of the images before; empty: it is not known.
	was string
}

func (v *UpgradeValidator) reviewUpgrade(ctx context.Context, u upgrade) (found, error) {
	read := sets.New(u.under.read(u.affected)...)
	for _, addOn := range u.affected {
		for _, compared := range protection.Compared(u.under.Catalog, addOn) {
			if u.released.Has(compared) {
				read.Insert(compared)
			}
		}
	}
	on, err := v.listAll(ctx, sets.List(read), func(string, string) bool { return true })
	if err != nil || len(on) == 0 {
		return found{}, err
	}
	now := v.now()
	message, mode, err := v.onClusters(ctx, u.under, fleetState{
		concerns: func(cluster string) bool {
			return slices.ContainsFunc(u.affected, func(addOn string) bool { return on[cluster][addOn] != nil })
		},
		addOns: on, ocm: v.ocmOnce(), facts: v.factsByAgents(ctx), now: now,
	}, func(as clusterReader, into protection.Broken) error { return u.breaks(ctx, as, into) })
	return found{request: toChange, message: message, mode: mode}, err
}

// breaks adds what contradicts the version on a managed cluster, and did not before: neither with the version that the
// hub shows, nor with that of the images.
func (u upgrade) breaks(ctx context.Context, as clusterReader, into protection.Broken) error {
	upgraded := as
	upgraded.ocm = fixed(u.version)
	affected := as.addOns.begun(u.affected, "")
	after, err := upgraded.settledFindings(ctx, u.under, affected, "")
	contradicted := protection.Contradictions(nil, after)
	earlier := []ocmVersion{as.ocm}
	if u.was != "" {
		earlier = append(earlier, fixed(u.was))
	}
	for _, was := range earlier {
		if err != nil || len(contradicted) == 0 {
			return err
		}
		as.ocm = was
		var before map[string][]evaluation.Finding
		before, err = as.settledFindings(ctx, u.under, affected, "")
		contradicted = protection.Contradictions(before, contradicted)
	}
	if err != nil {
		return err
	}
	contradicted.AddTo(into, as.cluster.Name)
	return nil
}

// fixed is a version that is known.
func fixed(version string) ocmVersion {
	return func(context.Context) (string, bool, error) { return version, true, nil }
}
