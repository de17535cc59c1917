package declaration

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/expression"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/text"
)

// When is a compiled `when`. Both parts must hold; either may be nil.
type When struct {
	Selector   labels.Selector
	Expression *expression.Expression
	// Reads are the add-ons whose settings the expression reads.
	Reads []ReadAddOn
}

// ReadAddOn is an add-on whose settings an expression reads, by the name of the edge on it.
type ReadAddOn struct{ Edge, AddOn string }

// readsOf finds the add-ons whose settings an expression reads.
func readsOf(of *expression.Expression, edges []Edge) (reads []ReadAddOn) {
	if of == nil || !of.Dependencies().Any() {
		return nil
	}
	for i := range edges {
		if name := edges[i].Dependency.Name; edges[i].AddOn != "" && of.Dependencies().Has(name) {
			reads = append(reads, ReadAddOn{name, edges[i].AddOn})
		}
	}
	return reads
}

// link finds what the expressions of edges read of each other.
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

// undeclared are the problems of expressions that read the settings of a dependency which is not declared, or is on no add-on. They never have a
// value.
func undeclared(edges []Edge, path *field.Path) (problems []Problem) {
	check := func(of *expression.Expression, at *field.Path) {
		if of == nil {
			return
		}
		for _, name := range of.Dependencies().Named() {
			if !slices.ContainsFunc(edges, func(e Edge) bool { return e.AddOn != "" && e.Dependency.Name == name }) {
				problems = append(problems, NewProblem(ProblemUndeclared, at.String(),
					fmt.Sprintf("%s: dependencies[%q] is no dependency on an add-on in this declaration", at, text.Name(name)),
					"correct the name, or declare the dependency"))
			}
		}
	}
	for i := range edges {
		at := path.Index(edges[i].Index)
		if edges[i].When != nil {
			check(edges[i].When.Expression, at.Child("when", "expression"))
		}
		for j := range edges[i].Settings {
			if from := edges[i].Settings[j].From; from != nil {
				check(from.Expression, at.Child("settings", "variables").Index(j).Child("valueFrom"))
			}
		}
	}
	return problems
}

// Reads are the add-ons whose settings the expressions of an edge read.
func (e *Edge) Reads() (reads []ReadAddOn) {
	if e.When != nil {
		reads = e.When.Reads
	}
	for i := range e.Settings {
		reads = slices.Concat(reads, e.Settings[i].Reads)
	}
	return reads
}

// compileWhen reads when, found at path; the errors name field and value.
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
		holds, err := expression.Compile(when.Expression)
		if err != nil {
			errs = append(errs, field.Invalid(path.Child("expression"), text.Excerpt(when.Expression), err.Error()))
		}
		compiled.Expression = holds
	}
	return compiled, errs
}

// Inputs are what the condition reads.
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

// expressions counts those of all dependencies, in when, config and settings, and their bytes.
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
