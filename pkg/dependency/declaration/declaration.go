// Package declaration reads, validates and compiles the dependencies that a
// ClusterManagementAddOn declares by field or by annotation.
package declaration

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/text"
)

// Declaration is the compiled declaration of one ClusterManagementAddOn.
type Declaration struct {
	// Dependencies has an entry for each name, with default types and in the declared order. It is empty for an
	// invalid declaration.
	Dependencies []addonv1alpha1.AddonDependency
	// Requirements are the declared requirements on the platform. It is nil without requirements.
	Requirements *addonv1alpha1.AddonRequirements
	// Provides are the APIs that the add-on installs.
	Provides []addonv1alpha1.AddonAPI
	// Ordering says whether the installation and upgrades wait for the dependencies. It only counts in a registration.
	Ordering addonv1alpha1.Ordering
	// Invalid is true if the declaration cannot be used, so that the dependencies of the add-on are unknown.
	Invalid bool
	// Path is the path of the field or the annotation.
	Path string
	// Problems are the problems of the declaration, in a stable order.
	Problems []Problem

	// Edges are the compiled Dependencies.
	Edges []Edge
	// Platform are the compiled Requirements.
	Platform []Requirement
}

// Empty reports whether the declaration has nothing that could be unsatisfied.
func (d Declaration) Empty() bool { return len(d.Edges) == 0 && len(d.Platform) == 0 && !d.Invalid }

// PathOf returns the path of the first edge on an add-on if it is declared by field, and otherwise
// the path of all edges.
func (d Declaration) PathOf(addOn string) string {
	return d.EdgePath(slices.IndexFunc(d.Edges, func(edge Edge) bool { return edge.IsOn(addOn) }))
}

// EdgePath returns the path of an edge by its number if it is declared by field, and otherwise the path
// of all edges.
func (d Declaration) EdgePath(edge int) string {
	if edge < 0 || edge >= len(d.Edges) || d.Path != FieldPath.String() {
		return d.Path
	}
	return FieldPath.Index(d.Edges[edge].Index).String()
}

// OrderingPath returns the path of ordering in the spec or in the annotation.
func (d Declaration) OrderingPath() string { return d.parent().Child("ordering").String() }

// RequirementsPath returns the path of the requirements in the spec, or that of the annotation.
func (d Declaration) RequirementsPath() string {
	if d.Path != FieldPath.String() {
		return d.Path
	}
	return specPath.Child("requirements").String()
}

func (d Declaration) parent() *field.Path {
	if d.Path == FieldPath.String() {
		return specPath
	}
	return AnnotationPath
}

// Outline returns the parts of the declaration that the review of another declaration needs: the edges on
// add-ons, with their types and uncompiled ranges, and with an empty When for a condition.
func (d Declaration) Outline() Declaration {
	outline := Declaration{Invalid: d.Invalid, Path: d.Path}
	for i := range d.Edges {
		edge := &d.Edges[i]
		if edge.AddOn == "" && len(edge.Alternatives) == 0 {
			continue
		}
		kept := edge.outline()
		for j := range edge.Alternatives { // including APIs: with an API among them, not all alternatives can be circular
			kept.Alternatives = append(kept.Alternatives, edge.Alternatives[j].outline())
		}
		if edge.When != nil {
			kept.When = &When{}
		}
		outline.Edges = append(outline.Edges, kept)
	}
	return outline
}

func (e *Edge) outline() Edge {
	return Edge{AddOn: e.AddOn, Dependency: addonv1alpha1.AddonDependency{
		Type: e.Dependency.Type, Version: e.Dependency.Version, Prereleases: e.Dependency.Prereleases,
	}}
}

var (
	specPath = field.NewPath("spec")
	// FieldPath is the path of dependencies by field.
	FieldPath = specPath.Child("dependencies")
	// AnnotationPath is the path of the annotation with dependencies.
	AnnotationPath = field.NewPath("metadata", "annotations").Key(addonv1alpha1.DependenciesAnnotation)
)

// declared is a declaration as it was written.
type declared struct {
	dependencies []addonv1alpha1.AddonDependency
	requirements *addonv1alpha1.AddonRequirements
	provides     []addonv1alpha1.AddonAPI
	ordering     addonv1alpha1.Ordering
	// path is the path of the dependencies, and parent the path of the object with the other fields.
	path, parent *field.Path
	// content is the parsed annotation. decodeErr is set if a part of it could not be decoded.
	content   any
	decodeErr error
}

// written returns the value for the schema: an object, or a list in an annotation.
func (d declared) written() any {
	if d.content != nil {
		return d.content
	}
	return d.fields()
}

// Read reads the declaration of an add-on from its fields in spec, or else from its annotation. It
// never fails: an invalid declaration has Problems.
func Read(addOn *addonv1alpha1.ClusterManagementAddOn) Declaration {
	counted, byHand, err := counting(addOn)
	if err != nil {
		return unreadable(AnnotationPath, err)
	}
	declaration := declare(counted)
	if byHand && counted.parent == specPath {
		if written, err := parseAnnotation(addOn.Annotations[addonv1alpha1.DependenciesAnnotation]); err != nil || !sameMeaning(counted, written) {
			declaration.Problems = append(declaration.Problems, NewProblem(ProblemDeclaredTwice, AnnotationPath.String(),
				fmt.Sprintf("%s is ignored because %s is set", AnnotationPath, presentField(&addOn.Spec)),
				unrecorded+". Remove the annotation, and Interlock records them"))
		}
	}
	return declaration
}

// unreadable returns the invalid declaration of an annotation that cannot be parsed.
func unreadable(path *field.Path, err error) Declaration {
	return invalid(path.String(), fmt.Sprintf("%s: %s", path, err),
		fmt.Sprintf("it must be the YAML or JSON of a list like %s, or of an object with dependencies, requirements, provides and ordering", FieldPath))
}

// counting returns the declaration that counts: the fields, if there are any. Without fields, the
// annotation counts. A record counts if the API server has lost a part of the fields.
// byHand is true for an annotation that is not a record.
func counting(addOn *addonv1alpha1.ClusterManagementAddOn) (counted declared, byHand bool, err error) {
	text, annotated := addOn.Annotations[addonv1alpha1.DependenciesAnnotation]
	spec := declared{
		dependencies: addOn.Spec.Dependencies, requirements: addOn.Spec.Requirements, provides: addOn.Spec.Provides, ordering: addOn.Spec.Ordering,
		path: FieldPath, parent: specPath,
	}
	if !annotated {
		return spec, false, nil
	}
	if recorded, derived := recordIn(addOn.Annotations); derived {
		if all, err := readFields(recorded); err == nil && spec.smaller(all) {
			return all, false, nil
		}
		return spec, false, nil
	}
	if spec.dependencies != nil || spec.requirements != nil || spec.provides != nil || spec.ordering != "" {
		return spec, true, nil
	}
	counted, err = parseAt(AnnotationPath, text)
	return counted, true, err
}

// presentField returns the path of the first field that hides the annotation.
func presentField(spec *addonv1alpha1.ClusterManagementAddOnSpec) *field.Path {
	switch {
	case spec.Dependencies != nil:
		return FieldPath
	case spec.Requirements != nil:
		return specPath.Child("requirements")
	case spec.Provides != nil:
		return specPath.Child("provides")
	default:
		return specPath.Child("ordering")
	}
}

const untilCorrected = "until it is corrected, conditions stay as they are"

func invalid(field, problem, remedy string) Declaration {
	return Declaration{Invalid: true, Problems: []Problem{NewProblem(ProblemInvalid, field, problem, remedy)}}
}

// declare compiles a declaration. Of several entries with one name, the strictest counts.
func declare(d declared) Declaration {
	if d.requirements != nil {
		if problem, other := forOther(d.requirements.Interlock, d.parent); other {
			return Declaration{Invalid: true, Path: d.path.String(), Requirements: d.requirements, Provides: d.provides, Problems: []Problem{problem}}
		}
	}
	if errs := d.validate(); len(errs) > 0 {
		return invalid(errs[0].Field, errs.ToAggregate().Error(), untilCorrected)
	}
	edges, errs := compileEdges(d.dependencies, d.path)
	platform, platformErrs := compileRequirements(d.requirements, d.parent.Child("requirements"))
	if errs = append(errs, platformErrs...); len(errs) > 0 {
		return invalid(errs[0].Field, errs.ToAggregate().Error(), untilCorrected)
	}

	declaration := Declaration{Path: d.path.String(), Requirements: d.requirements, Platform: platform, Provides: d.provides, Ordering: d.ordering}
	byName := make(map[string]int, len(edges))
	for i, entry := range edges {
		name := entry.Dependency.Name
		first, duplicate := byName[name]
		if !duplicate {
			byName[name] = len(declaration.Edges)
			declaration.Edges = append(declaration.Edges, entry)
			continue
		}
		kept := &declaration.Edges[first]
		if stricter(entry.Dependency.Type, kept.Dependency.Type) {
			*kept = entry
		}
		declaration.Problems = append(declaration.Problems, NewProblem(ProblemDuplicate, d.path.Index(i).Child("name").String(),
			fmt.Sprintf("%s: %q is declared more than once", d.path.Index(i).Child("name"), text.Name(name)),
			fmt.Sprintf("it counts once, as %s", kept.Dependency.Type)))
	}
	link(declaration.Edges)
	declaration.Problems = append(declaration.Problems, undeclared(declaration.Edges, d.path)...)
	for _, entry := range declaration.Edges {
		declaration.Dependencies = append(declaration.Dependencies, entry.Dependency)
	}
	return declaration
}

func compileEdges(listed []addonv1alpha1.AddonDependency, path *field.Path) ([]Edge, field.ErrorList) {
	edges := make([]Edge, 0, len(listed))
	var errs field.ErrorList
	for i, entry := range listed {
		if entry.Type == "" {
			entry.Type = addonv1alpha1.DependencyTypeRequired
		}
		compiled, entryErrs := compileEdge(entry, path.Index(i))
		compiled.Index = i
		edges = append(edges, compiled)
		errs = append(errs, entryErrs...)
	}
	return edges, errs
}

// stricter reports whether type a comes before type b in byStrictness.
func stricter(a, b addonv1alpha1.DependencyType) bool {
	return slices.Index(byStrictness, a) < slices.Index(byStrictness, b)
}

var byStrictness = []addonv1alpha1.DependencyType{
	addonv1alpha1.DependencyTypeRequired, addonv1alpha1.DependencyTypeConflicts, addonv1alpha1.DependencyTypeIfInstalled,
	addonv1alpha1.DependencyTypeOptional,
}
