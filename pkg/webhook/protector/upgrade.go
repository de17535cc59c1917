package protector

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
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	eventsof "open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/text"
)

// UpgradePath is the path for reviews of the ClusterManager.
const UpgradePath = "/protect-clustermanager"

// UpgradeValidator reviews other images of the ClusterManager: another version of Open Cluster Management.
type UpgradeValidator struct{ *fleetReviewer }

var _ admission.Handler = &UpgradeValidator{}

// Handle implements admission.Handler.
func (v *UpgradeValidator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	ctx, cancel := context.WithTimeout(ctx, fleetReviewTimeout)
	defer cancel()
	const concern = "add-ons contradict another version of Open Cluster Management"
	oldManager, newManager := &operatorv1.ClusterManager{}, &operatorv1.ClusterManager{}
	if err := decodeBoth(request, oldManager, newManager); err != nil {
		return allowUnchecked(concern, err)
	}
	review, err := v.review(ctx, oldManager, newManager)
	if unknown := (unknownVersion{}); errors.As(err, &unknown) {
		return admission.Allowed("").WithWarnings(text.OneLine(unknown.Error()))
	}
	return v.respond(request, review, concern, err)
}

// images returns the images of a ClusterManager, by field.
func images(manager *operatorv1.ClusterManager) map[string]string {
	return map[string]string{
		"registrationImagePullSpec": manager.Spec.RegistrationImagePullSpec, "workImagePullSpec": manager.Spec.WorkImagePullSpec,
		"placementImagePullSpec": manager.Spec.PlacementImagePullSpec, "addOnManagerImagePullSpec": manager.Spec.AddOnManagerImagePullSpec,
	}
}

// review reviews other images of the ClusterManager. Its error is an unknownVersion if the tags of the images are no version.
func (v *UpgradeValidator) review(ctx context.Context, oldManager, newManager *operatorv1.ClusterManager) (outcome, error) {
	changed := protection.UpgradeOf(images(oldManager), images(newManager))
	if !changed.Changes() || !oldManager.DeletionTimestamp.IsZero() {
		return outcome{}, nil
	}
	evaluator, release, err := v.beginProtected(ctx)
	if err != nil || release == nil {
		return outcome{}, err
	}
	defer release()
	released, err := v.releasedAddOns(ctx, evaluator)
	if err != nil {
		return outcome{}, err
	}
	affected := protection.AffectedByOCM(evaluator.Evaluator, released.Has)
	if len(affected) == 0 {
		return outcome{}, nil
	}
	version, ok := changed.Version()
	if !ok {
		return outcome{}, v.checkUnknownVersion(ctx, affected, changed.Err())
	}
	// The old images may have another version than the CRDs.
	oldVersion, _ := protection.UpgradeOf(nil, images(oldManager)).Version()
	review, err := v.reviewUpgrade(ctx, upgrade{evaluator, affected, released, version, oldVersion})
	if err != nil || review.message == "" {
		return outcome{}, err
	}
	var stored metav1.PartialObjectMetadata
	stored.SetGroupVersionKind(schema.GroupVersion(operatorv1.GroupVersion).WithKind(eventsof.ClusterManager))
	if err := v.live.Get(ctx, client.ObjectKeyFromObject(newManager), &stored); err != nil {
		return outcome{}, client.IgnoreNotFound(err)
	}
	review.object, review.kind = &stored, eventsof.ClusterManager
	review.forceReason = newManager.Annotations[addonv1alpha1.ForceAnnotation]
	review.subject = fmt.Sprintf("Open Cluster Management %s", text.Name(version))
	return review, nil
}

// unknownVersion is the error for images whose version is not known. Add-ons were not checked.
type unknownVersion struct {
	// addOns are the installed add-ons that may contradict the version.
	addOns []string
	cause  error
}

// Error implements error.
func (u unknownVersion) Error() string {
	return fmt.Sprintf("whether another version of Open Cluster Management contradicts %s (%s) was not checked: %v. "+
		"kubectl addon impact --ocm VERSION checks one", text.Count(len(u.addOns), "add-on"), text.Names(u.addOns, ", "), u.cause)
}

// checkUnknownVersion returns an unknownVersion with a cause if any of the add-ons is installed.
func (v *UpgradeValidator) checkUnknownVersion(ctx context.Context, affected []string, cause error) error {
	unknown := unknownVersion{cause: cause}
	for _, addOn := range affected {
		clusters, err := v.clustersWith(ctx, addOn)
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

// releasedAddOns returns the add-ons that are released with Open Cluster Management and have its version. The annotation of the
// registration, or of an AddOnTemplate, declares that.
func (v *UpgradeValidator) releasedAddOns(ctx context.Context, evaluator policyEvaluator) (sets.Set[string], error) {
	stored, err := v.declarations.read(ctx)
	if err != nil {
		return nil, err
	}
	released := sets.New[string]()
	for _, addOn := range evaluator.AddOns() {
		if (versions.Sources{Registration: evaluator.Version(addOn)}).UseOCM() {
			released.Insert(addOn)
		}
	}
	for i := range stored.templates {
		template := &stored.templates[i]
		if strings.TrimSpace(versions.OfTemplate(template.Annotations, template.Labels)) == versions.OCM {
			released.Insert(template.Spec.AddonName)
		}
	}
	return released, nil
}

// upgrade is another version of Open Cluster Management.
type upgrade struct {
	evaluator policyEvaluator
	// affected are the add-ons that the version can break.
	affected []string
	// released are the add-ons that have the version of Open Cluster Management.
	released sets.Set[string]
	version  string
	// oldVersion is the version of the old images. It is empty if their tags are no version.
	oldVersion string
}

// reviewUpgrade reviews another version of Open Cluster Management on all managed clusters.
func (v *UpgradeValidator) reviewUpgrade(ctx context.Context, u upgrade) (outcome, error) {
	names := sets.New(u.evaluator.addOnsToRead(u.affected)...)
	for _, addOn := range u.affected {
		for _, compared := range protection.Compared(u.evaluator.Catalog, addOn) {
			if u.released.Has(compared) {
				names.Insert(compared)
			}
		}
	}
	installed, err := v.listFleetAddOns(ctx, sets.List(names), func(string, string) bool { return true })
	if err != nil || len(installed) == 0 {
		return outcome{}, err
	}
	state := fleetState{
		isAffected: func(cluster string) bool {
			return slices.ContainsFunc(u.affected, func(addOn string) bool { return installed[cluster][addOn] != nil })
		},
		addOns:     installed,
		ocmVersion: v.lazyOCMVersion(),
		facts:      v.lazyFleetFacts(ctx),
		now:        v.now(),
	}
	message, mode, err := v.reviewClusters(ctx, u.evaluator, state, func(cluster clusterReader, broken protection.Broken) error {
		return u.addBroken(ctx, cluster, broken)
	})
	return outcome{words: changeWords, message: message, mode: mode}, err
}

// addBroken adds the edges on a managed cluster that the new version contradicts. It leaves out edges that the old version contradicts
// already: the version that the hub shows, or the version of the old images.
func (u upgrade) addBroken(ctx context.Context, cluster clusterReader, broken protection.Broken) error {
	oldVersions := []ocmVersion{cluster.ocmVersion}
	if u.oldVersion != "" {
		oldVersions = append(oldVersions, fixedOCMVersion(u.oldVersion))
	}
	affected := cluster.addOns.withoutGated(u.affected, "")
	cluster.ocmVersion = fixedOCMVersion(u.version)
	findings, err := cluster.settledFindings(ctx, u.evaluator, affected, "")
	if err != nil {
		return err
	}
	contradicted := protection.Contradictions(nil, findings)
	for _, oldVersion := range oldVersions {
		if len(contradicted) == 0 {
			return nil
		}
		cluster.ocmVersion = oldVersion
		oldFindings, err := cluster.settledFindings(ctx, u.evaluator, affected, "")
		if err != nil {
			return err
		}
		contradicted = protection.Contradictions(oldFindings, contradicted)
	}
	contradicted.AddTo(broken, cluster.managedCluster.Name)
	return nil
}

// fixedOCMVersion returns an ocmVersion that returns one version.
func fixedOCMVersion(version string) ocmVersion {
	return func(context.Context) (string, bool, error) { return version, true, nil }
}
