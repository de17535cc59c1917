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
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/text"
)

// Affected returns the add-ons, ascending, whose verdicts another version or declaration of an add-on can turn into
// contradictions: itself, those with an edge on it that compares versions, and the members of its cycles.
func Affected(declared *catalog.Catalog, addOn string) []string {
	affected := sets.New(addOn).Insert(comparing(declared, addOn)...)
	for _, cycle := range declared.Cycles(addOn) {
		affected.Insert(cycle...)
	}
	if tied := declared.Tied(addOn); tied != nil {
		affected.Insert(tied.Members()...)
	}
	return sets.List(affected)
}

// comparing returns the add-ons with an edge on an add-on that compares versions.
func comparing(declared *catalog.Catalog, addOn string) []string {
	return slices.DeleteFunc(slices.Clone(declared.Dependents(addOn)), func(dependent string) bool {
		return !hasEnd(declared, dependent, func(end *declaration.Edge) bool { return end.AddOn == addOn && end.MayCompareVersion() })
	})
}

// hasEnd reports whether an edge of the add-on matches, or an alternative of one.
func hasEnd(declared *catalog.Catalog, addOn string, matches func(*declaration.Edge) bool) bool {
	for _, one := range declared.Declarations(addOn) {
		for i := range one.Edges {
			for end := range one.Edges[i].Ends() {
				if matches(end) {
					return true
				}
			}
		}
	}
	return false
}

// Compared returns the add-ons, ascending, whose versions or installation can contradict what an add-on declares.
func Compared(declared *catalog.Catalog, addOn string) []string {
	compared := sets.New[string]()
	for _, one := range declared.Declarations(addOn) {
		for i := range one.Edges {
			for end := range one.Edges[i].Ends() {
				if end.AddOn != "" && (declaration.Conflicts(&end.Dependency) || end.MayCompareVersion()) {
					compared.Insert(end.AddOn)
				}
			}
		}
	}
	return sets.List(compared)
}

// AffectedByOCM returns the add-ons, ascending, whose verdicts another version of Open Cluster Management can turn into
// contradictions: those that require one, and those with an edge that compares the version of an add-on that has the same.
// released reports whether an add-on has.
func AffectedByOCM(declared *evaluation.Evaluator, released func(addOn string) bool) []string {
	affected := sets.New(declared.WithInput(input.OCM)...)
	for _, addOn := range declared.AddOns() {
		if released(addOn) {
			affected.Insert(comparing(declared.Catalog, addOn)...)
		}
	}
	return sets.List(affected)
}

// Needs says what an add-on needs that a contradiction keeps from it, as "requires base in version '>= 1.0'".
func Needs(f evaluation.Finding) string {
	switch {
	case f.Verdict == evaluation.Cycle:
		return "is on the " + catalog.CycleText(f.Cycle)
	case f.Requirement != nil:
		return fmt.Sprintf("requires %s '%s'", f.Requirement.Subject, wanted(f.Requirement.Wanted))
	}
	var ends []string
	for _, end := range evaluation.Named(f.Dependency) {
		named := end.Target()
		if declaration.ComparesVersion(end.Dependency) {
			named += fmt.Sprintf(" in version '%s'", wanted(end.Dependency.Version))
		}
		ends = append(ends, named)
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

func wanted(declared string) string { return text.Excerpt(text.OneLine(declared)) }

// OCMOf returns the version of Open Cluster Management that an image has, by its tag, which may be followed by a digest. It is
// not known of an image with a digest alone, or with another tag than a semantic version.
func OCMOf(image string) (version string, known bool) {
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

// Upgrade is another version of Open Cluster Management, by the images of a ClusterManager that change. The zero value is that of
// images that stay.
type Upgrade struct {
	// Versions are those of the images that change, ascending.
	Versions []string
	// Unreadable are the purposes of the images that change and have no version that is known, ascending.
	Unreadable []string
}

// UpgradeOf compares images by their purposes.
func UpgradeOf(before, after map[string]string) Upgrade {
	found, unreadable := sets.New[string](), sets.New[string]()
	for purpose, image := range after {
		if image == before[purpose] {
			continue
		}
		if version, known := OCMOf(image); known {
			found.Insert(strings.TrimPrefix(version, "v"))
		} else {
			unreadable.Insert(purpose)
		}
	}
	return Upgrade{Versions: sets.List(found), Unreadable: sets.List(unreadable)}
}

// Changes reports whether any image changes.
func (u Upgrade) Changes() bool { return len(u.Versions)+len(u.Unreadable) > 0 }

// Version returns the version to which all images change. Err explains why it is not known.
func (u Upgrade) Version() (version string, known bool) {
	if len(u.Versions) != 1 || len(u.Unreadable) > 0 {
		return "", false
	}
	return u.Versions[0], true
}

// Err is the error of images that change to a version that is not known; nil where it is, or where none changes.
func (u Upgrade) Err() error {
	if len(u.Unreadable) > 0 {
		return fmt.Errorf("no tag that is a version in %s", strings.Join(u.Unreadable, ", "))
	}
	if len(u.Versions) > 1 {
		return fmt.Errorf("images have several versions: %s", text.Excerpt(strings.Join(u.Versions, ", ")))
	}
	return nil
}

// AddTo adds what contradicts on a managed cluster.
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
