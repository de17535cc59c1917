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
	"open-cluster-management.io/interlock/pkg/dependency/suggestion"
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

// versionGaps finds the images of add-ons of which no version is known.
type versionGaps struct {
	hub client.Reader
	// cluster is the only one that is looked at; empty: all are.
	cluster string
	read    *loaded
}

// find returns the images of all registered add-ons without a known version, or of one.
func (v *versionGaps) find(ctx context.Context, fleet *snapshot.Snapshot, addOn string) (all []suggestion.Evidence, err error) {
	wanted := map[string]bool{}
	for _, name := range fleet.Declared.AddOns() {
		wanted[name] = addOn == "" || addOn == name
	}
	reaches := report.VersionReaches(fleet, func(name string) bool { return wanted[name] })
	for _, name := range slices.Sorted(maps.Keys(reaches)) {
		evidence, err := v.evidence(ctx, name, reaches[name].Gaps)
		if err != nil {
			return nil, err
		}
		all = append(all, evidence...)
	}
	for i := range fleet.Registrations {
		if registered := &fleet.Registrations[i]; wanted[registered.Name] && reaches[registered.Name] == nil {
			all = append(all, v.installedNowhere(ctx, fleet, registered)...)
		}
	}
	return all, nil
}

// evidence returns the images of an add-on where no version of it is known.
func (v *versionGaps) evidence(ctx context.Context, addOn string, gaps []report.VersionGap) (all []suggestion.Evidence, err error) {
	clusters := map[string][]string{} // by AddOnTemplate
	for i := range gaps {
		clusters[gaps[i].Template] = append(clusters[gaps[i].Template], gaps[i].Cluster)
	}
	for _, template := range slices.Sorted(maps.Keys(clusters)) {
		if template != "" {
			all = append(all, v.ofTemplate(addOn, template, clusters[template]))
		}
	}
	without := clusters[""]
	if len(without) == 0 {
		return all, nil
	}
	images, reason := map[string]string{}, worksUnread
	if v.read.worksUnread == nil {
		reason = noWork
		images, err = v.imagesOfWorks(ctx, addOn)
		switch {
		case apierrors.IsForbidden(err):
			v.read.worksUnread, reason = err, worksUnread
		case err != nil:
			return nil, err
		}
	}
	for _, cluster := range without {
		one := suggestion.Evidence{AddOn: addOn, Image: images[cluster], Clusters: []string{cluster}}
		if one.Image == "" {
			one.Reason = reason
		}
		all = append(all, one)
	}
	return all, nil
}

func (v *versionGaps) ofTemplate(addOn, template string, clusters []string) suggestion.Evidence {
	image, exists := v.read.images[template]
	evidence := suggestion.Evidence{AddOn: addOn, Template: template, Image: image, Clusters: clusters}
	switch {
	case !exists:
		evidence.Reason = noTemplate
	case image == "":
		evidence.Reason = noDeployment
	}
	return evidence
}

// installedNowhere returns the images of the AddOnTemplates that a registration names, and that have no version.
func (v *versionGaps) installedNowhere(
	ctx context.Context, fleet *snapshot.Snapshot, registered *addonv1alpha1.ClusterManagementAddOn,
) (all []suggestion.Evidence) {
	if stated := fleet.Declared.Version(registered.Name); cmp.Or(stated.Current, stated.Former) != "" {
		return nil
	}
	for _, template := range declaration.NamedTemplates(registered) {
		if version, _, _ := fleet.TemplateVersion(ctx, template); version == "" {
			all = append(all, v.ofTemplate(registered.Name, template, nil))
		}
	}
	return all
}

// imagesOfWorks returns the images of an add-on, by managed cluster. In hosted mode, a work is in the namespace of another one.
func (v *versionGaps) imagesOfWorks(ctx context.Context, addOn string) (map[string]string, error) {
	images := map[string]string{}
	err := snapshot.Each(ctx, v.hub, "manifestworks", v.cluster, func(list *workv1.ManifestWorkList) {
		for i := range list.Items {
			work := &list.Items[i]
			cluster := cmp.Or(work.Labels[ocmaddonv1alpha1.AddonNamespaceLabelKey], work.Namespace)
			decoded, _ := decode(work.Name, work.Spec.Workload.Manifests)
			if image, ok := suggestion.Image(decoded); ok && images[cluster] == "" {
				images[cluster] = image
			}
		}
	}, client.MatchingLabels{ocmaddonv1alpha1.AddonLabelKey: addOn}, client.Limit(page))
	return images, err
}
