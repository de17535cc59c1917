package suggest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ocmaddonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/plan/suggestion"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
)

// Reasons why an add-on has no image.
const (
	noWork       = "no ManifestWork has a Deployment of it"
	worksUnread  = "ManifestWorks cannot be read"
	noDeployment = "the AddOnTemplate has no Deployment"
	noTemplate   = "the AddOnTemplate does not exist"
)

// evidenceFinder finds the images of add-ons without a known version.
type evidenceFinder struct {
	hub client.Reader
	// cluster is the managed cluster to read. If it is empty, all are read.
	cluster   string
	workloads *workloads
}

// find returns the images of all registered add-ons without a known version, or of a single add-on.
func (f *evidenceFinder) find(ctx context.Context, fleet *snapshot.Snapshot, addOn string) ([]suggestion.Evidence, error) {
	var evidence []suggestion.Evidence
	selected := map[string]bool{}
	for _, name := range fleet.Declared.AddOns() {
		selected[name] = addOn == "" || addOn == name
	}
	reaches := report.VersionReaches(fleet, func(name string) bool { return selected[name] })
	for _, name := range slices.Sorted(maps.Keys(reaches)) {
		images, err := f.gapEvidence(ctx, name, reaches[name].Gaps)
		if err != nil {
			return nil, err
		}
		evidence = append(evidence, images...)
	}
	for i := range fleet.Registrations {
		if registration := &fleet.Registrations[i]; selected[registration.Name] && reaches[registration.Name] == nil {
			evidence = append(evidence, f.registrationEvidence(ctx, fleet, registration)...)
		}
	}
	return evidence, nil
}

// gapEvidence returns the images of an add-on on the managed clusters without a known version.
func (f *evidenceFinder) gapEvidence(ctx context.Context, addOn string, gaps []report.VersionGap) ([]suggestion.Evidence, error) {
	var evidence []suggestion.Evidence
	clusters := map[string][]string{} // by AddOnTemplate
	for i := range gaps {
		clusters[gaps[i].Template] = append(clusters[gaps[i].Template], gaps[i].Cluster)
	}
	for _, template := range slices.Sorted(maps.Keys(clusters)) {
		if template != "" {
			evidence = append(evidence, f.templateEvidence(addOn, template, clusters[template]))
		}
	}
	works, err := f.workEvidence(ctx, addOn, clusters[""])
	return append(evidence, works...), err
}

// workEvidence returns the images of an add-on without an AddOnTemplate on managed clusters.
func (f *evidenceFinder) workEvidence(ctx context.Context, addOn string, clusters []string) ([]suggestion.Evidence, error) {
	if len(clusters) == 0 {
		return nil, nil
	}
	images, reason := map[string]string{}, worksUnread
	if f.workloads.worksErr == nil {
		var err error
		reason = noWork
		images, err = f.workImages(ctx, addOn)
		switch {
		case apierrors.IsForbidden(err):
			f.workloads.worksErr, reason = err, worksUnread
		case err != nil:
			return nil, err
		}
	}
	evidence := make([]suggestion.Evidence, 0, len(clusters))
	for _, cluster := range clusters {
		item := suggestion.Evidence{AddOn: addOn, Image: images[cluster], Clusters: []string{cluster}}
		if item.Image == "" {
			item.Reason = reason
		}
		evidence = append(evidence, item)
	}
	return evidence, nil
}

func (f *evidenceFinder) templateEvidence(addOn, template string, clusters []string) suggestion.Evidence {
	image, exists := f.workloads.images[template]
	evidence := suggestion.Evidence{AddOn: addOn, Template: template, Image: image, Clusters: clusters}
	switch {
	case !exists:
		evidence.Reason = noTemplate
	case image == "":
		evidence.Reason = noDeployment
	}
	return evidence
}

// registrationEvidence returns the images of an add-on that is installed nowhere: of the AddOnTemplates that its registration names, and
// that have no version.
func (f *evidenceFinder) registrationEvidence(
	ctx context.Context, fleet *snapshot.Snapshot, registration *addonv1alpha1.ClusterManagementAddOn,
) []suggestion.Evidence {
	if version := fleet.Declared.Version(registration.Name); cmp.Or(version.Current, version.Former) != "" {
		return nil
	}
	var evidence []suggestion.Evidence
	for _, template := range declaration.NamedTemplates(registration) {
		if version, _, _ := fleet.TemplateVersion(ctx, template); version == "" {
			evidence = append(evidence, f.templateEvidence(registration.Name, template, nil))
		}
	}
	return evidence
}

// workImages returns the images of an add-on, by managed cluster. In hosted mode, a work is in the namespace of the hosting cluster.
func (f *evidenceFinder) workImages(ctx context.Context, addOn string) (map[string]string, error) {
	images := map[string]string{}
	err := snapshot.Each(ctx, f.hub, "manifestworks", f.cluster, func(list *workv1.ManifestWorkList) {
		for i := range list.Items {
			work := &list.Items[i]
			cluster := cmp.Or(work.Labels[ocmaddonv1alpha1.AddonNamespaceLabelKey], work.Namespace)
			decoded, _ := decode(work.Name, work.Spec.Workload.Manifests)
			if image, ok := suggestion.Image(decoded); ok && images[cluster] == "" {
				images[cluster] = image
			}
		}
	}, client.MatchingLabels{ocmaddonv1alpha1.AddonLabelKey: addOn}, client.Limit(pageSize))
	return images, err
}
