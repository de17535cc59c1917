package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

// VersionGap is a managed cluster where an add-on is installed without a known version.
type VersionGap struct {
	Cluster string
	// Template is the AddOnTemplate that runs there. It is empty without a template.
	Template string
	// Unrequested is whether the cluster has an addon-agent that was not requested to report the version.
	Unrequested bool
}

// VersionReach counts the managed clusters where an add-on is installed, and has the clusters without a known version.
type VersionReach struct {
	Installed int
	Gaps      []VersionGap
}

// VersionReaches looks for the versions of add-ons on all managed clusters of a snapshot, in the sources that verdicts use. An add-on
// that is installed nowhere has no entry.
func VersionReaches(hub *snapshot.Snapshot, selects func(addOn string) bool) map[string]*VersionReach {
	reaches := map[string]*VersionReach{}
	for _, name := range hub.Names() {
		cluster := hub.Whole(name)
		// Evaluation drops facts that no installed add-on needs.
		if object := hub.FactsObject(name); object != nil && cluster.Facts.Versions == nil {
			cluster.Facts.Versions = fleet.FactsOf(object).Versions
		}
		for addOn, observation := range cluster.AddOns {
			if !selects(addOn) {
				continue
			}
			if reaches[addOn] == nil {
				reaches[addOn] = &VersionReach{}
			}
			reaches[addOn].Installed++
			sources := cluster.VersionSources(&observation, hub.Declared.Version(addOn))
			if observation.Template.Unknown || versions.Running(sources) != (versions.Version{}) {
				continue
			}
			_, reported := cluster.Facts.Versions[addOn]
			reaches[addOn].Gaps = append(reaches[addOn].Gaps, VersionGap{
				Cluster:     name,
				Template:    observation.Template.Name,
				Unrequested: !reported && hub.IsOn(name, names.AgentAddOn),
			})
		}
	}
	return reaches
}

// describe names the managed clusters without a known version.
func (r *VersionReach) describe(addOn, accepted string) string {
	clusters, unrequested := make([]string, 0, maxNamed), 0
	for i := range r.Gaps {
		if i < maxNamed {
			clusters = append(clusters, r.Gaps[i].Cluster)
		}
		if r.Gaps[i].Unrequested {
			unrequested++
		}
	}
	if len(r.Gaps) > maxNamed {
		clusters = append(clusters, "…")
	}
	message := fmt.Sprintf("no version of %q is known on %d of the %s where it is installed (%s), so a dependency on version %q fails there",
		text.Name(addOn), len(r.Gaps), text.Count(r.Installed, "managed cluster"), strings.Join(clusters, ", "),
		text.Excerpt(text.OneLine(accepted)))
	if unrequested > 0 {
		message += fmt.Sprintf(", unless addon-agent, which has not been requested to report it on %d of them, finds one on the lease",
			unrequested)
	}
	return message
}

// WithFiles returns the snapshot after the registrations and AddOnTemplates in files are applied. If a file lacks a version, the
// version on the hub stays, because kubectl apply keeps the annotations of other writers.
func WithFiles(hub *snapshot.Snapshot, registrations []Declared, templates []addonv1alpha1.AddOnTemplate) *snapshot.Snapshot {
	content := hub.Content
	content.Registrations = Among(registrations, hub.Registrations)
	for i := range content.Registrations {
		addOn := &content.Registrations[i]
		current := hub.Declared.Version(addOn.Name)
		if versions.In(addOn.Annotations) == (versions.Annotated{}) && current != (versions.Annotated{}) {
			addOn.Annotations = maps.Clone(addOn.Annotations)
			metav1.SetMetaDataAnnotation(&addOn.ObjectMeta, addonv1alpha1.AddOnVersionAnnotation, cmp.Or(current.Current, current.Former))
		}
	}
	versioned := slices.DeleteFunc(slices.Clone(templates), func(template addonv1alpha1.AddOnTemplate) bool {
		return versions.OfTemplate(template.Annotations, template.Labels) == ""
	})
	content.Templates = snapshot.Replaced(hub.Templates, versioned)
	return snapshot.New(content)
}
