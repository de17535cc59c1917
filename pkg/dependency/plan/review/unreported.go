package review

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// Versioned has the registered add-ons of a hub. The value is true if the registration of an add-on, or one of its AddOnTemplates,
// has a version.
type Versioned map[string]bool

// FindVersioned returns the registered add-ons, and whether each has a version.
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

// VersionNotReported returns judgements on edges on registered add-ons without a version: one for each add-on, and at most
// maxConflicts. A lease or a ManagedClusterAddOn may still report the version.
func VersionNotReported(declared declaration.Declaration, hub Versioned) []Judgement {
	var judgements []Judgement
	seen := map[string]bool{}
	for i := range declared.Edges {
		for edge := range declared.Edges[i].Ends() {
			versioned, registered := hub[edge.AddOn]
			if !registered || versioned || seen[edge.AddOn] || !NeedsVersion(edge) || len(judgements) == maxConflicts {
				continue
			}
			seen[edge.AddOn] = true
			judgements = append(judgements, Judgement{RuleVersionNotReported, false, declared.EdgePath(i), fmt.Sprintf(
				"no version of %q is set on its ClusterManagementAddOn or an AddOnTemplate, so a dependency on version %q fails where "+
					"neither the lease of its agent nor its ManagedClusterAddOn reports one%s",
				text.Name(edge.AddOn), excerpt(edge.Dependency.Version), VersionRemedy(edge.AddOn))})
		}
	}
	return judgements
}

// VersionRemedy returns the end of a message about an add-on that reports no version: the command that sets one.
func VersionRemedy(addOn string) string {
	if len(validation.IsDNS1123Subdomain(addOn)) > 0 { // no part of a command
		return ""
	}
	return "; to set it: " + versions.AnnotateCommand("clustermanagementaddon", addOn, versions.Placeholder)
}
