package report

import (
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// versionLint finds dependencies on versions of add-ons that do not report one.
type versionLint struct {
	// registered are the add-ons on the hub. Other add-ons may get a version when they are registered.
	registered map[string]bool
	versioned  review.Versioned
	reaches    map[string]*VersionReach
}

// ComparesVersions reports whether a declaration in files has a range of versions of an add-on that is registered on the hub.
func ComparesVersions(registrations []Declared, templates []DeclaredTemplate, hub []addonv1alpha1.ClusterManagementAddOn) bool {
	registered := namesOf(hub)
	return len(comparedAddOns(registrations, templates, registered)) > 0
}

// FindVersionsNotReported finds the version ranges in files on add-ons without a known version. The version is looked for on managed
// clusters where the add-on is installed, or on the hub if it is installed nowhere. templateFiles are all AddOnTemplates in files.
func FindVersionsNotReported(
	registrations []Declared, templates []DeclaredTemplate, templateFiles []addonv1alpha1.AddOnTemplate, hub *snapshot.Snapshot,
) []LintFinding {
	registered := namesOf(hub.Registrations)
	compared := comparedAddOns(registrations, templates, registered)
	changed := WithFiles(hub, registrations, templateFiles)
	lint := versionLint{
		registered: registered,
		versioned:  review.FindVersioned(changed.Registrations, changed.Templates),
		reaches:    VersionReaches(changed, func(addOn string) bool { return compared[addOn] }),
	}
	var findings []LintFinding
	for i := range registrations {
		registration := &registrations[i]
		for _, judgement := range lint.judge(declaration.Read(&registration.AddOn)) {
			findings = append(findings, registration.finding(judgement))
		}
	}
	for i := range templates {
		template := &templates[i]
		decl, _ := declaration.ReadTemplate(&template.Template)
		for _, judgement := range lint.judge(decl) {
			findings = append(findings, template.finding(judgement))
		}
	}
	return findings
}

// judge judges the edges of a declaration on add-ons without a known version. It returns at most one judgement for each add-on.
func (l *versionLint) judge(decl declaration.Declaration) []review.Judgement {
	var judgements []review.Judgement
	installed := map[string]bool{}
	for i := range decl.Edges {
		for edge := range decl.Edges[i].Ends() {
			reach := l.reaches[edge.AddOn]
			if reach == nil || installed[edge.AddOn] || !review.NeedsVersion(edge) {
				continue
			}
			installed[edge.AddOn] = true
			if len(reach.Gaps) > 0 {
				judgements = append(judgements, review.Judgement{
					Rule: review.RuleVersionNotReported, Field: decl.EdgePath(i),
					Message: reach.describe(edge.AddOn, edge.Dependency.Version) + review.VersionRemedy(edge.AddOn),
				})
			}
		}
	}
	uninstalled := review.Versioned{}
	for addOn, versioned := range l.versioned {
		if l.registered[addOn] && !installed[addOn] {
			uninstalled[addOn] = versioned
		}
	}
	return append(judgements, review.VersionNotReported(decl, uninstalled)...)
}

// comparedAddOns returns the add-ons on the hub for which files have a range of versions.
func comparedAddOns(registrations []Declared, templates []DeclaredTemplate, registered map[string]bool) map[string]bool {
	compared := map[string]bool{}
	add := func(decl declaration.Declaration) {
		for i := range decl.Edges {
			for edge := range decl.Edges[i].Ends() {
				if registered[edge.AddOn] && review.NeedsVersion(edge) {
					compared[edge.AddOn] = true
				}
			}
		}
	}
	for i := range registrations {
		add(declaration.Read(&registrations[i].AddOn))
	}
	for i := range templates {
		decl, _ := declaration.ReadTemplate(&templates[i].Template)
		add(decl)
	}
	return compared
}

func namesOf(registrations []addonv1alpha1.ClusterManagementAddOn) map[string]bool {
	names := make(map[string]bool, len(registrations))
	for i := range registrations {
		names[registrations[i].Name] = true
	}
	return names
}
