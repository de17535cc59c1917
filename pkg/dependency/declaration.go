package dependency

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Declaration is what one ClusterManagementAddOn says of its dependencies.
type Declaration struct {
	// Dependencies are the edges to evaluate: types defaulted, one entry per
	// name, in the order declared. Empty when the declaration is invalid.
	Dependencies []addonv1alpha1.AddonDependency
	// Requirements are those of the platform, nil without any.
	Requirements *addonv1alpha1.AddonRequirements
	// Provides are the APIs that the add-on brings.
	Provides []addonv1alpha1.AddonAPI
	// Invalid is true when the declaration cannot be used. The verdicts of
	// the add-on then stay as they are until it is corrected.
	Invalid bool
	// Path is where it was declared: the field, or the annotation.
	Path string
	// Problems are what the author should be told, in a stable order.
	Problems []Problem

	// edges are Dependencies, compiled, and then one for each requirement.
	edges []edge
	uses  Uses
}

// Uses tells what the add-on's own edges look at.
func (d Declaration) Uses() Uses { return d.uses }

// Empty reports whether nothing is declared that could be unsatisfied.
func (d Declaration) Empty() bool { return len(d.edges) == 0 && !d.Invalid }

// ProblemReason names a kind of problem; it is an event reason and the value
// of a metric label.
type ProblemReason string

// What can be wrong with a declaration.
const (
	// ProblemInvalid: the declaration cannot be used at all.
	ProblemInvalid ProblemReason = "InvalidDependencies"
	// ProblemDuplicate: a name stands in the list twice; the stricter entry counts.
	ProblemDuplicate ProblemReason = "DuplicateDependency"
	// ProblemDeclaredTwice: field and annotation are both present; the field counts.
	ProblemDeclaredTwice ProblemReason = "DependenciesDeclaredTwice"
	// ProblemNotRegistered: a dependency has no ClusterManagementAddOn on this hub.
	ProblemNotRegistered ProblemReason = "DependencyNotRegistered"
	// ProblemCycle: the add-on is on a cycle of Required dependencies.
	ProblemCycle ProblemReason = "DependencyCycle"
	// ProblemConditionalCycle: it is on one wherever the conditions of some
	// dependencies hold together.
	ProblemConditionalCycle ProblemReason = "ConditionalDependencyCycle"
)

// ProblemReasons lists every ProblemReason.
var ProblemReasons = []ProblemReason{
	ProblemInvalid, ProblemDuplicate, ProblemDeclaredTwice, ProblemNotRegistered, ProblemCycle, ProblemConditionalCycle,
}

// Problem is one thing wrong with a declaration.
type Problem struct {
	Reason ProblemReason
	// Finding names the field and the value.
	Finding string
	// Message is the finding with what follows from it, or what to do.
	Message string
}

var (
	specPath       = field.NewPath("spec")
	fieldPath      = specPath.Child("dependencies")
	annotationPath = field.NewPath("metadata", "annotations").Key(addonv1alpha1.DependenciesAnnotation)
)

// declared is what somebody wrote, and where.
type declared struct {
	dependencies []addonv1alpha1.AddonDependency
	requirements *addonv1alpha1.AddonRequirements
	provides     []addonv1alpha1.AddonAPI
	// path is that of the dependencies, parent that of the other two.
	path, parent *field.Path
}

// Declare reads the declaration of addOn: its fields in spec, else its
// annotation. It never fails; what is wrong stands in Problems.
func Declare(addOn *addonv1alpha1.ClusterManagementAddOn) Declaration {
	annotation, annotated := addOn.Annotations[addonv1alpha1.DependenciesAnnotation]
	spec := &addOn.Spec
	if spec.Dependencies != nil || spec.Requirements != nil || spec.Provides != nil || !annotated {
		declaration := declare(declared{spec.Dependencies, spec.Requirements, spec.Provides, fieldPath, specPath})
		if annotated {
			declaration.Problems = append(declaration.Problems, newProblem(ProblemDeclaredTwice,
				fmt.Sprintf("%s is ignored because %s is set", annotationPath, presentField(spec)),
				"remove one of the two"))
		}
		return declaration
	}

	parsed, err := parseAnnotation(annotation)
	if err != nil {
		return invalid(fmt.Sprintf("%s: %s", annotationPath, err),
			fmt.Sprintf("it must be the YAML or JSON of a list like %s, or of an object with dependencies, requirements and provides", fieldPath))
	}
	return declare(parsed)
}

// presentField is the path of the first field that hides the annotation.
func presentField(spec *addonv1alpha1.ClusterManagementAddOnSpec) *field.Path {
	switch {
	case spec.Dependencies != nil:
		return fieldPath
	case spec.Requirements != nil:
		return specPath.Child("requirements")
	default:
		return specPath.Child("provides")
	}
}

func invalid(text, remedy string) Declaration {
	return Declaration{Invalid: true, Problems: []Problem{newProblem(ProblemInvalid, text, remedy)}}
}

// newProblem words a problem on one line that an event can carry, with the
// remedy always complete.
func newProblem(reason ProblemReason, text, remedy string) Problem {
	finding := shortenBytes(oneLine(text), maxProblem-len("; ")-len(remedy))
	return Problem{Reason: reason, Finding: finding, Message: finding + "; " + remedy}
}

// declare compiles what was declared, and counts an entry once per name.
func declare(d declared) Declaration {
	errs := validateList(d.dependencies, d.path)
	edges, compileErrs := compileEdges(d.dependencies, d.path)
	requirements, requirementErrs := compileRequirements(d.requirements, d.parent.Child("requirements"))
	errs = append(errs, compileErrs...)
	errs = append(errs, validateRequirements(d.requirements, d.parent.Child("requirements"))...)
	errs = append(errs, requirementErrs...)
	errs = append(errs, validateProvides(d.provides, d.parent.Child("provides"))...)
	if len(errs) > 0 {
		return invalid(errs.ToAggregate().Error(), "until it is corrected, conditions stay as they are")
	}

	declaration := Declaration{Path: d.path.String(), Requirements: d.requirements, Provides: d.provides}
	at := make(map[string]int, len(edges))
	for i, entry := range edges {
		name := entry.declared.Name
		first, duplicate := at[name]
		if !duplicate {
			at[name] = len(declaration.edges)
			declaration.edges = append(declaration.edges, entry)
			continue
		}
		kept := &declaration.edges[first]
		if stricter(entry.declared.Type, kept.declared.Type) {
			*kept = entry
		}
		declaration.Problems = append(declaration.Problems, newProblem(ProblemDuplicate,
			fmt.Sprintf("%s: %q is declared more than once", d.path.Index(i).Child("name"), displayName(name)),
			fmt.Sprintf("it counts once, as %s", kept.declared.Type)))
	}
	for _, entry := range declaration.edges {
		declaration.Dependencies = append(declaration.Dependencies, entry.declared)
	}
	declaration.edges = append(declaration.edges, requirements...)
	for i := range declaration.edges {
		declaration.uses |= declaration.edges[i].uses()
	}
	return declaration
}

func compileEdges(listed []addonv1alpha1.AddonDependency, path *field.Path) ([]edge, field.ErrorList) {
	edges := make([]edge, 0, len(listed))
	var errs field.ErrorList
	for i, entry := range listed {
		if entry.Type == "" {
			entry.Type = addonv1alpha1.DependencyTypeRequired
		}
		compiled, entryErrs := compileEdge(entry, path.Index(i))
		edges = append(edges, compiled)
		errs = append(errs, entryErrs...)
	}
	return edges, errs
}

// stricter compares types: Required, IfInstalled, Optional.
func stricter(a, b addonv1alpha1.DependencyType) bool {
	return slices.Index(byStrictness, a) < slices.Index(byStrictness, b)
}

var byStrictness = []addonv1alpha1.DependencyType{
	addonv1alpha1.DependencyTypeRequired, addonv1alpha1.DependencyTypeIfInstalled, addonv1alpha1.DependencyTypeOptional,
}

// HasProblem reports whether one of the problems has the reason.
func (d Declaration) HasProblem(reason ProblemReason) bool {
	return slices.ContainsFunc(d.Problems, func(p Problem) bool { return p.Reason == reason })
}
