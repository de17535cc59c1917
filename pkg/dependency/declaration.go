package dependency

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Declaration is what one ClusterManagementAddOn says of its dependencies.
type Declaration struct {
	// Dependencies are the edges to evaluate: types defaulted, one entry per
	// name, in the order declared. Empty when the declaration is invalid.
	Dependencies []addonv1alpha1.AddonDependency
	// Invalid is true when the declaration cannot be used. The verdicts of
	// the add-on then stay as they are until it is corrected.
	Invalid bool
	// Path is where it was declared: the field, or the annotation.
	Path string
	// Problems are what the author should be told, in a stable order.
	Problems []Problem
}

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
)

// ProblemReasons lists every ProblemReason.
var ProblemReasons = []ProblemReason{
	ProblemInvalid, ProblemDuplicate, ProblemDeclaredTwice, ProblemNotRegistered, ProblemCycle,
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
	fieldPath      = field.NewPath("spec", "dependencies")
	annotationPath = field.NewPath("metadata", "annotations").Key(addonv1alpha1.DependenciesAnnotation)
	knownTypes     = []addonv1alpha1.DependencyType{addonv1alpha1.DependencyTypeOptional, addonv1alpha1.DependencyTypeRequired}
)

// Declare reads the declaration of addOn: its field spec.dependencies, else
// its annotation. It never fails; what is wrong stands in Problems.
func Declare(addOn *addonv1alpha1.ClusterManagementAddOn) Declaration {
	annotation, annotated := addOn.Annotations[addonv1alpha1.DependenciesAnnotation]
	if addOn.Spec.Dependencies != nil || !annotated {
		declaration := declare(addOn.Spec.Dependencies, fieldPath)
		if annotated {
			declaration.Problems = append(declaration.Problems, newProblem(ProblemDeclaredTwice,
				fmt.Sprintf("%s is ignored because %s is set", annotationPath, fieldPath),
				"remove one of the two"))
		}
		return declaration
	}

	dependencies, err := parseAnnotation(annotation)
	if err != nil {
		return invalid(fmt.Sprintf("%s: %s", annotationPath, err),
			fmt.Sprintf("it must be the YAML or JSON of a list like %s", fieldPath))
	}
	return declare(dependencies, annotationPath)
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

func declare(listed []addonv1alpha1.AddonDependency, path *field.Path) Declaration {
	if errs := Validate(listed, path); len(errs) > 0 {
		return invalid(errs.ToAggregate().Error(), "until it is corrected, conditions stay as they are")
	}

	declaration := Declaration{Path: path.String()}
	at := make(map[string]int, len(listed))
	for i, entry := range listed {
		if entry.Type == "" {
			entry.Type = addonv1alpha1.DependencyTypeRequired
		}
		first, duplicate := at[entry.Name]
		if !duplicate {
			at[entry.Name] = len(declaration.Dependencies)
			declaration.Dependencies = append(declaration.Dependencies, entry)
			continue
		}
		kept := &declaration.Dependencies[first]
		if stricter(entry.Type, kept.Type) {
			*kept = entry
		}
		declaration.Problems = append(declaration.Problems, newProblem(ProblemDuplicate,
			fmt.Sprintf("%s: %q is declared more than once", path.Index(i).Child("name"), displayName(entry.Name)),
			fmt.Sprintf("it counts once, as %s", kept.Type)))
	}
	return declaration
}

func stricter(a, b addonv1alpha1.DependencyType) bool {
	return a == addonv1alpha1.DependencyTypeRequired && b == addonv1alpha1.DependencyTypeOptional
}

// Validate checks a list of dependencies found at path by the rules of the
// schema, for where no schema has checked it. The errors name field and value.
func Validate(listed []addonv1alpha1.AddonDependency, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, entry := range listed {
		if strings.TrimSpace(entry.Name) == "" {
			errs = append(errs, field.Required(path.Index(i).Child("name"), "name the add-on that is depended on"))
		}
		if entry.Type != "" && !slices.Contains(knownTypes, entry.Type) {
			errs = append(errs, field.NotSupported(path.Index(i).Child("type"), entry.Type, knownTypes))
		}
	}
	return errs
}

// HasProblem reports whether one of the problems has the reason.
func (d Declaration) HasProblem(reason ProblemReason) bool {
	return slices.ContainsFunc(d.Problems, func(p Problem) bool { return p.Reason == reason })
}
