package declaration

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/expression"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/text"
)

// When is a compiled condition. A cluster must meet both parts. Each of them may be nil.
type When struct {
	Selector   labels.Selector
	Expression *expression.Expression
	// Reads are the add-ons whose settings the expression reads.
	Reads []ReadAddOn
}

// ReadAddOn is an add-on whose settings an expression reads by the name of its edge.
type ReadAddOn struct{ Edge, AddOn string }

// readsOf finds the add-ons whose settings an expression reads.
func readsOf(reader *expression.Expression, edges []Edge) []ReadAddOn {
	if reader == nil || !reader.Dependencies().Any() {
		return nil
	}
	var reads []ReadAddOn
	for i := range edges {
		if name := edges[i].Dependency.Name; edges[i].AddOn != "" && reader.Dependencies().Has(name) {
			reads = append(reads, ReadAddOn{name, edges[i].AddOn})
		}
	}
	return reads
}

// link finds the add-ons that the expressions of edges read.
func link(edges []Edge) {
	for i := range edges {
		if when := edges[i].When; when != nil {
			when.Reads = readsOf(when.Expression, edges)
		}
		for j := range edges[i].Settings {
			if setting := &edges[i].Settings[j]; setting.From != nil {
				setting.Reads = readsOf(setting.From.Expression, edges)
			}
		}
	}
}

// undeclared returns a problem for each expression that reads the settings of a dependency which is not declared, or is not an add-on.
// Such an expression never has a value.
func undeclared(edges []Edge, path *field.Path) []Problem {
	var problems []Problem
	check := func(reader *expression.Expression, readerPath *field.Path) {
		if reader == nil {
			return
		}
		for _, name := range reader.Dependencies().Named() {
			if !slices.ContainsFunc(edges, func(e Edge) bool { return e.AddOn != "" && e.Dependency.Name == name }) {
				problems = append(problems, NewProblem(ProblemUndeclared, readerPath.String(),
					fmt.Sprintf("%s: dependencies[%q] is no dependency on an add-on in this declaration", readerPath, text.Name(name)),
					"correct the name, or declare the dependency"))
			}
		}
	}
	for i := range edges {
		edgePath := path.Index(edges[i].Index)
		if edges[i].When != nil {
			check(edges[i].When.Expression, edgePath.Child("when", "expression"))
		}
		for j := range edges[i].Settings {
			if from := edges[i].Settings[j].From; from != nil {
				check(from.Expression, edgePath.Child("settings", "variables").Index(j).Child("valueFrom"))
			}
		}
	}
	return problems
}

// Reads returns the add-ons whose settings the expressions of an edge read.
func (e *Edge) Reads() []ReadAddOn {
	var reads []ReadAddOn
	if e.When != nil {
		reads = e.When.Reads
	}
	for i := range e.Settings {
		reads = slices.Concat(reads, e.Settings[i].Reads)
	}
	return reads
}

// compileWhen compiles a condition. The errors have the field and the value.
func compileWhen(when *addonv1alpha1.DependencyWhen, path *field.Path) (*When, field.ErrorList) {
	if when == nil {
		return nil, nil
	}
	var errs field.ErrorList
	compiled := &When{}
	if when.ClusterSelector != nil {
		path := path.Child("clusterSelector")
		errs = append(errs, metavalidation.ValidateLabelSelector(when.ClusterSelector, metavalidation.LabelSelectorValidationOptions{}, path)...)
		selector, err := metav1.LabelSelectorAsSelector(when.ClusterSelector)
		if err != nil && len(errs) == 0 {
			errs = append(errs, field.Invalid(path, text.Excerpt(when.ClusterSelector.String()), err.Error()))
		}
		compiled.Selector = selector
	}
	if when.Expression != "" {
		condition, err := expression.Compile(when.Expression)
		if err != nil {
			errs = append(errs, field.Invalid(path.Child("expression"), text.Excerpt(when.Expression), err.Error()))
		}
		compiled.Expression = condition
	}
	return compiled, errs
}

// Inputs returns the inputs that the condition reads.
func (w *When) Inputs() input.Set {
	var inputs input.Set
	if w.Selector != nil {
		inputs |= input.Labels
	}
	if w.Expression != nil {
		inputs |= w.Expression.Inputs()
	}
	if len(w.Reads) > 0 {
		inputs |= input.Settings
	}
	return inputs
}

// expressions returns the number and the total length of the expressions of all dependencies, in when, config and settings.
func expressions(dependencies []addonv1alpha1.AddonDependency) (count, bytes int) {
	for i := range dependencies {
		if when := dependencies[i].When; when != nil && when.Expression != "" {
			count++
			bytes += len(when.Expression)
		}
		if config := dependencies[i].Config; config != nil {
			count++
			bytes += len(config.Expression)
		}
		if settings := dependencies[i].Settings; settings != nil {
			for j := range settings.Variables {
				if from := settings.Variables[j].ValueFrom; from != "" {
					count++
					bytes += len(from)
				}
			}
		}
	}
	return count, bytes
}
