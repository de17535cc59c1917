// Package settings decides which variables an add-on gets that Interlock installs, from what all its dependents on a managed
// cluster wish, and what becomes of those that other writers change. It has no client and no clock. The rules are those of
// lifecycle.md, "Settings".
package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Variable is what one edge wishes for a variable.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	// Problem is why it has no value; empty: it has one.
	Problem string `json:"problem,omitempty"`
	// Sealed: no other writer may change it. Required: without a value, the add-on is not installed for the edge.
	Sealed   bool `json:"sealed,omitempty"`
	Required bool `json:"required,omitempty"`
}

// Lacking describes the variables that are required and have no value; empty: there are none.
func Lacking(variables []Variable) string {
	var lacking []string
	for _, one := range variables {
		if one.Required && one.Problem != "" {
			lacking = append(lacking, fmt.Sprintf("setting '%s' is required and %s", one.Name, one.Problem))
		}
	}
	return strings.Join(lacking, "; ")
}

// Wish is what a dependent wishes of one add-on.
type Wish struct {
	Dependent string
	Variables []Variable
}

// Conflict is a variable for which dependents wish different values.
type Conflict struct {
	Variable string
	// Dependents are those, ascending.
	Dependents []string
}

// Agreed is what the wishes of all dependents come to. Both lists are ascending by the name of the variable.
type Agreed struct {
	Variables []Variable
	Conflicts []Conflict
}

// Agree joins the wishes of all dependents of an add-on on one managed cluster. Wishes that are sealed count before those that any
// other writer may overrule. Of those that count, different values are a conflict, and the variable gets none of them.
func Agree(wishes []Wish) (agreed Agreed) {
	type wished struct {
		dependent string
		Variable
	}
	by := map[string][]wished{}
	for _, wish := range wishes {
		for _, one := range wish.Variables {
			if one.Problem == "" {
				by[one.Name] = append(by[one.Name], wished{wish.Dependent, one})
			}
		}
	}
	for name, all := range by {
		if slices.ContainsFunc(all, func(one wished) bool { return one.Sealed }) {
			all = slices.DeleteFunc(all, func(one wished) bool { return !one.Sealed })
		}
		if !slices.ContainsFunc(all, func(one wished) bool { return one.Value != all[0].Value }) {
			agreed.Variables = append(agreed.Variables, Variable{Name: name, Value: all[0].Value, Sealed: all[0].Sealed})
			continue
		}
		conflict := Conflict{Variable: name}
		for _, one := range all {
			conflict.Dependents = append(conflict.Dependents, one.dependent)
		}
		slices.Sort(conflict.Dependents)
		conflict.Dependents = slices.Compact(conflict.Dependents)
		agreed.Conflicts = append(agreed.Conflicts, conflict)
	}
	slices.SortFunc(agreed.Variables, func(a, b Variable) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(agreed.Conflicts, func(a, b Conflict) int { return cmp.Compare(a.Variable, b.Variable) })
	return agreed
}
