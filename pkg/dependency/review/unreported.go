package review

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// Versioned has the registered add-ons of a hub. An add-on is true if its registration or one of its AddOnTemplates has a
// version.
type Versioned map[string]bool

// FindVersioned returns which registered add-ons have a version.
func FindVersioned(registered []addonv1alpha1.ClusterManagementAddOn, templates []addonv1alpha1.AddOnTemplate) Versioned {
	versioned := make(Versioned, len(registered))
	for i := range registered {
		stated := versions.In(registered[i].Annotations)
		versioned[registered[i].Name] = strings.TrimSpace(stated.Current) != "" || strings.TrimSpace(stated.Former) != ""
	}
	for i := range templates {
		addOn := templates[i].Spec.AddonName
		if registered, ok := versioned[addOn]; ok && !registered {
			versioned[addOn] = strings.TrimSpace(versions.OfTemplate(templates[i].Annotations, templates[i].Labels)) != ""
		}
	}
	return versioned
}

// NeedsVersion reports whether an edge is not satisfied by an add-on that reports no version. A range with every release has
// a better remedy, see EveryVersion.
func NeedsVersion(edge *declaration.Edge) bool {
	return edge.AddOn != "" && edge.Versions != nil && !edge.Versions.AcceptsAll() &&
		(declaration.Conflicts(&edge.Dependency) || !edge.Versions.AcceptsEveryRelease())
}

// VersionNotReported returns the edges on registered add-ons without a version, one for each add-on and up to some. A lease or
// a ManagedClusterAddOn may still report one.
func VersionNotReported(declared declaration.Declaration, hub Versioned) (judged []Judgement) {
	seen := map[string]bool{}
	for i := range declared.Edges {
		for edge := range declared.Edges[i].Ends() {
			versioned, registered := hub[edge.AddOn]
			if !registered || versioned || seen[edge.AddOn] || !NeedsVersion(edge) || len(judged) == maxConflicts {
				continue
			}
			seen[edge.AddOn] = true
			judged = append(judged, Judgement{RuleVersionNotReported, false, declared.EdgePath(i), fmt.Sprintf(
				"no version of %q is set on its ClusterManagementAddOn or an AddOnTemplate, so a dependency on version %q fails where "+
					"neither the lease of its agent nor its ManagedClusterAddOn reports one%s",
				text.Name(edge.AddOn), shown(edge.Dependency.Version), VersionRemedy(edge.AddOn))})
		}
	}
	return judged
}

// VersionRemedy returns the end of a message about an add-on that reports no version: the command that sets one.
func VersionRemedy(addOn string) string {
	if len(validation.IsDNS1123Subdomain(addOn)) > 0 { // no part of a command
		return ""
	}
	return "; to set it: " + versions.AnnotateCommand("clustermanagementaddon", addOn, versions.Placeholder)
}
