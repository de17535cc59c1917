package protection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
)

// Affected returns the add-ons, ascending, whose verdicts another version or declaration of an add-on can turn into
// contradictions: the add-on itself, the dependents that compare its version, and the members of its cycles.
func Affected(declared *catalog.Catalog, addOn string) []string {
	affected := sets.New(addOn).Insert(comparing(declared, addOn)...)
	for _, cycle := range declared.Cycles(addOn) {
		affected.Insert(cycle...)
	}
	if tied := declared.WidestCycle(addOn); tied != nil {
		affected.Insert(tied.Members()...)
	}
	return sets.List(affected)
}

// comparing returns the dependents that compare the version of an add-on.
func comparing(declared *catalog.Catalog, addOn string) []string {
	return slices.DeleteFunc(slices.Clone(declared.Dependents(addOn)), func(dependent string) bool {
		return !hasEnd(declared, dependent, func(end *declaration.Edge) bool { return end.AddOn == addOn && end.MayCompareVersion() })
	})
}

// hasEnd reports whether any edge of the add-on, or any alternative of an edge, matches.
func hasEnd(declared *catalog.Catalog, addOn string, matches func(*declaration.Edge) bool) bool {
	for _, specification := range declared.Declarations(addOn) {
		for i := range specification.Edges {
			for end := range specification.Edges[i].Ends() {
				if matches(end) {
					return true
				}
			}
		}
	}
	return false
}

// Compared returns the add-ons, ascending, whose versions or installation can contradict the declarations of an add-on.
func Compared(declared *catalog.Catalog, addOn string) []string {
	compared := sets.New[string]()
	for _, specification := range declared.Declarations(addOn) {
		for i := range specification.Edges {
			for end := range specification.Edges[i].Ends() {
				if end.AddOn != "" && (declaration.Conflicts(&end.Dependency) || end.MayCompareVersion()) {
					compared.Insert(end.AddOn)
				}
			}
		}
	}
	return sets.List(compared)
}

// AffectedByOCM returns the add-ons, ascending, whose verdicts another version of Open Cluster Management can turn into
// contradictions: the add-ons that require a version of it, and the dependents that compare the version of an add-on released with it.
// released reports whether an add-on is.
func AffectedByOCM(declared *evaluation.Evaluator, released func(addOn string) bool) []string {
	affected := sets.New(declared.WithInput(input.OCM)...)
	for _, addOn := range declared.AddOns() {
		if released(addOn) {
			affected.Insert(comparing(declared.Catalog, addOn)...)
		}
	}
	return sets.List(affected)
}

// Needs describes the dependency or requirement of a contradiction, as in "requires base in version '>= 1.0'".
func Needs(f evaluation.Finding) string {
	switch {
	case f.Verdict == evaluation.Cycle:
		return "is on the " + catalog.CycleText(f.Cycle)
	case f.Requirement != nil:
		return fmt.Sprintf("requires %s '%s'", f.Requirement.Subject, excerpt(f.Requirement.Wanted))
	}
	var ends []string
	for _, end := range evaluation.Named(f.Dependency) {
		phrase := end.Target()
		if declaration.ComparesVersion(end.Dependency) {
			phrase += fmt.Sprintf(" in version '%s'", excerpt(end.Dependency.Version))
		}
		ends = append(ends, phrase)
	}
	needs := "requires " + strings.Join(ends, " or ")
	if f.Verdict == evaluation.Conflict {
		needs = "conflicts with " + ends[0]
	}
	if f.Type() == addonv1alpha1.DependencyTypeIfInstalled {
		needs += " where it is installed"
	}
	return needs
}

func excerpt(constraint string) string { return text.Excerpt(text.OneLine(constraint)) }

// OCMOf returns the version of Open Cluster Management in the tag of an image. A digest may follow the tag. ok is false for an image
// without a tag, or with a tag that is not a semantic version.
func OCMOf(image string) (version string, ok bool) {
	path, _, _ := strings.Cut(image[strings.LastIndex(image, "/")+1:], "@")
	_, tag, tagged := strings.Cut(path, ":")
	if !tagged || len(tag) > versions.MaxLength {
		return "", false
	}
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(tag, "v")); err != nil {
		return "", false
	}
	return tag, true
}

// Upgrade describes the changed images of a ClusterManager. The zero value has no changed images.
type Upgrade struct {
	// Versions are the versions of the changed images, ascending.
	Versions []string
	// Unreadable are the purposes of the changed images whose tag is no version, ascending.
	Unreadable []string
}

// UpgradeOf compares images by their purposes.
func UpgradeOf(before, after map[string]string) Upgrade {
	changed, unreadable := sets.New[string](), sets.New[string]()
	for purpose, image := range after {
		if image == before[purpose] {
			continue
		}
		if version, ok := OCMOf(image); ok {
			changed.Insert(strings.TrimPrefix(version, "v"))
		} else {
			unreadable.Insert(purpose)
		}
	}
	return Upgrade{Versions: sets.List(changed), Unreadable: sets.List(unreadable)}
}

// Changes reports whether any image changes.
func (u Upgrade) Changes() bool { return len(u.Versions)+len(u.Unreadable) > 0 }

// Version returns the version to which all images change. If ok is false, Err explains why.
func (u Upgrade) Version() (version string, ok bool) {
	if len(u.Versions) != 1 || len(u.Unreadable) > 0 {
		return "", false
	}
	return u.Versions[0], true
}

// Err returns an error if the images change to no single readable version. It is nil if none changes.
func (u Upgrade) Err() error {
	if len(u.Unreadable) > 0 {
		return fmt.Errorf("no tag that is a version in %s", strings.Join(u.Unreadable, ", "))
	}
	if len(u.Versions) > 1 {
		return fmt.Errorf("images have several versions: %s", text.Excerpt(strings.Join(u.Versions, ", ")))
	}
	return nil
}

// AddTo adds the contradictions on a managed cluster to broken.
func (c Contradicted) AddTo(broken Broken, cluster string) {
	for addOn, findings := range c {
		needs := sets.New[string]()
		for _, finding := range findings {
			needs.Insert(Needs(finding))
		}
		for need := range needs {
			broken.Add(Edge{Dependent: addOn, Needs: need}, cluster)
		}
	}
}
