// Package settings computes the variables of an add-on that Interlock installs. It joins the requests of all dependents on a managed
// cluster, and respects the changes of other writers. It has no client and no clock.
package settings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Variable is the request of one edge for a variable.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	// Problem is the reason why the variable has no value. It is empty otherwise.
	Problem string `json:"problem,omitempty"`
	// Sealed is whether no other writer may change the variable.
	Sealed bool `json:"sealed,omitempty"`
	// Required is whether the add-on is not installed for the edge without a value.
	Required bool `json:"required,omitempty"`
}

// Lacking describes the required variables that have no value. It is empty if there are none.
func Lacking(variables []Variable) string {
	var problems []string
	for _, variable := range variables {
		if variable.Required && variable.Problem != "" {
			problems = append(problems, fmt.Sprintf("setting '%s' is required and %s", variable.Name, variable.Problem))
		}
	}
	return strings.Join(problems, "; ")
}

// Request has the variables that a dependent requests for one add-on.
type Request struct {
	Dependent string
	Variables []Variable
}

// Conflict is a variable for which dependents request different values.
type Conflict struct {
	Variable string
	// Dependents are the dependents that request the variable, ascending.
	Dependents []string
}

// Agreed is the result of joining the requests of all dependents. All lists are ascending by the name of the variable.
type Agreed struct {
	Variables []Variable
	Conflicts []Conflict
	// Unknown are required variables for which no request has a value now. A stored value stays.
	Unknown []Variable
}

// Agree joins the requests of all dependents of an add-on on one managed cluster. For each variable, sealed requests take precedence
// over the others. If the remaining requests have different values, that is a conflict, and the variable gets no value.
func Agree(requests []Request) Agreed {
	type bid struct {
		dependent string
		Variable
	}
	bidsByName, unknown := map[string][]bid{}, map[string]Variable{}
	for _, request := range requests {
		for _, variable := range request.Variables {
			switch {
			case variable.Problem == "":
				bidsByName[variable.Name] = append(bidsByName[variable.Name], bid{request.Dependent, variable})
			case variable.Required:
				sealed := variable.Sealed || unknown[variable.Name].Sealed
				unknown[variable.Name] = Variable{Name: variable.Name, Sealed: sealed, Required: true}
			}
		}
	}
	var agreed Agreed
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		if len(bidsByName[name]) == 0 {
			agreed.Unknown = append(agreed.Unknown, unknown[name])
		}
	}
	for name, bids := range bidsByName {
		if slices.ContainsFunc(bids, func(b bid) bool { return b.Sealed }) {
			bids = slices.DeleteFunc(bids, func(b bid) bool { return !b.Sealed })
		}
		if !slices.ContainsFunc(bids, func(b bid) bool { return b.Value != bids[0].Value }) {
			agreed.Variables = append(agreed.Variables, Variable{Name: name, Value: bids[0].Value, Sealed: bids[0].Sealed})
			continue
		}
		conflict := Conflict{Variable: name}
		for _, bid := range bids {
			conflict.Dependents = append(conflict.Dependents, bid.dependent)
		}
		slices.Sort(conflict.Dependents)
		conflict.Dependents = slices.Compact(conflict.Dependents)
		agreed.Conflicts = append(agreed.Conflicts, conflict)
	}
	slices.SortFunc(agreed.Variables, func(a, b Variable) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(agreed.Conflicts, func(a, b Conflict) int { return cmp.Compare(a.Variable, b.Variable) })
	return agreed
}
