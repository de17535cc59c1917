package report

import (
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/review"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// versionLint finds dependencies on versions of add-ons that do not report one.
type versionLint struct {
	// registered are the add-ons on the hub: others may get a version when they are registered.
	registered map[string]bool
	versioned  review.Versioned
	reaches    map[string]*VersionReach
}

// ComparesVersions reports whether a declaration in files has a range of versions of an add-on that is registered on the hub.
func ComparesVersions(all []Declared, templates []DeclaredTemplate, hub []addonv1alpha1.ClusterManagementAddOn) bool {
	registered := namesOf(hub)
	return len(comparedIn(all, templates, registered)) > 0
}

// FindVersionsNotReported finds the ranges in files on add-ons of which no version is known: on managed clusters where they are
// installed, or on the hub where they are installed nowhere. inFiles are all AddOnTemplates in files.
func FindVersionsNotReported(
	all []Declared, templates []DeclaredTemplate, inFiles []addonv1alpha1.AddOnTemplate, hub *snapshot.Snapshot,
) (found []LintFinding) {
	registered := namesOf(hub.Registrations)
	compared := comparedIn(all, templates, registered)
	changed := WithFiles(hub, all, inFiles)
	lint := versionLint{
		registered: registered,
		versioned:  review.FindVersioned(changed.Registrations, changed.Templates),
		reaches:    VersionReaches(changed, func(addOn string) bool { return compared[addOn] }),
	}
	for i := range all {
		registration := &all[i]
		for _, judged := range lint.judge(declaration.Read(&registration.AddOn)) {
			found = append(found, registration.finding(judged))
		}
	}
	for i := range templates {
		template := &templates[i]
		declared, _ := declaration.ReadTemplate(&template.Template)
		for _, judged := range lint.judge(declared) {
			found = append(found, template.finding(judged))
		}
	}
	return found
}

// judge returns the edges of a declaration on add-ons whose versions are not known, one for each add-on.
func (l *versionLint) judge(declared declaration.Declaration) (judged []review.Judgement) {
	installed := map[string]bool{}
	for i := range declared.Edges {
		for edge := range declared.Edges[i].Ends() {
			reach := l.reaches[edge.AddOn]
			if reach == nil || installed[edge.AddOn] || !review.NeedsVersion(edge) {
				continue
			}
			installed[edge.AddOn] = true
			if len(reach.Gaps) > 0 {
				judged = append(judged, review.Judgement{
					Rule: review.RuleVersionNotReported, Field: declared.EdgePath(i),
					Message: reach.describe(edge.AddOn, edge.Dependency.Version) + review.VersionRemedy(edge.AddOn),
				})
			}
		}
	}
	nowhere := review.Versioned{}
	for addOn, versioned := range l.versioned {
		if l.registered[addOn] && !installed[addOn] {
			nowhere[addOn] = versioned
		}
	}
	return append(judged, review.VersionNotReported(declared, nowhere)...)
}

// comparedIn returns the add-ons on the hub for which files have a range of versions.
func comparedIn(all []Declared, templates []DeclaredTemplate, registered map[string]bool) map[string]bool {
	compared := map[string]bool{}
	add := func(declared declaration.Declaration) {
		for i := range declared.Edges {
			for edge := range declared.Edges[i].Ends() {
				if registered[edge.AddOn] && review.NeedsVersion(edge) {
					compared[edge.AddOn] = true
				}
			}
		}
	}
	for i := range all {
		add(declaration.Read(&all[i].AddOn))
	}
	for i := range templates {
		declared, _ := declaration.ReadTemplate(&templates[i].Template)
		add(declared)
	}
	return compared
}

func namesOf(registered []addonv1alpha1.ClusterManagementAddOn) map[string]bool {
	named := make(map[string]bool, len(registered))
	for i := range registered {
		named[registered[i].Name] = true
	}
	return named
}
