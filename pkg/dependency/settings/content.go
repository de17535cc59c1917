package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
)

// The fields of the spec of an AddOnDeploymentConfig that are not only copied.
const (
	fieldVariables = "customizedVariables"
	fieldNamespace = "agentInstallNamespace"
)

// Written is what Interlock wrote to an AddOnDeploymentConfig. What another writer has changed since is found by it.
type Written struct {
	// Variables are the values that Interlock wanted.
	Variables map[string]string `json:"variables,omitempty"`
	// Sealed are those, ascending, that no other writer may change.
	Sealed []string `json:"sealed,omitempty"`
	// Rest identifies what was written besides variables.
	Rest string `json:"rest,omitempty"`
}

// ReadWritten reads an annotation. One that cannot be read means that nothing was written.
func ReadWritten(annotation string) (written Written) {
	if json.Unmarshal([]byte(annotation), &written) != nil {
		return Written{}
	}
	return written
}

// String is the annotation.
func (w Written) String() string {
	encoded, err := json.Marshal(w)
	if err != nil {
		return err.Error() // of strings, there is no error
	}
	return string(encoded)
}

// State is what is known of the AddOnDeploymentConfig that an add-on gets from Interlock. Specs are never changed.
type State struct {
	// Displaced is the spec of the one that the add-on would get otherwise; nil: none.
	Displaced map[string]any
	// Stored is the spec as it is stored; nil: it does not exist.
	Stored  map[string]any
	Written Written
	// Forced is true while an administrator has said why other writers may change sealed variables.
	Forced bool
}

// Content is what an AddOnDeploymentConfig is to be.
type Content struct {
	Spec    map[string]any
	Written Written
	// Changed: it is stored otherwise.
	Changed bool
	// Undone: another writer has changed what Interlock wrote and still wants.
	Undone bool
}

// Make returns the content of the AddOnDeploymentConfig: what it displaces, and the variables on which the dependents agree. A sealed
// variable has the value of its dependents, unless an administrator overrules that. For any other, the value counts that the displaced AddOnDeploymentConfig has, and the
// value of another writer counts before both.
func Make(agreed Agreed, state State) Content {
	rest := map[string]any{fieldNamespace: ""} // the default of its schema would move the agent
	for key, value := range state.Displaced {
		if key != fieldVariables {
			rest[key] = value
		}
	}
	content := Content{Spec: maps.Clone(rest), Written: Written{Variables: map[string]string{}, Rest: digest(rest)}}
	content.Changed = state.Stored == nil || content.Written.Rest != state.Written.Rest
	for key, value := range rest {
		if stored, exists := state.Stored[key]; !exists || !equality.Semantic.DeepEqual(stored, value) {
			content.Changed = true
			content.Undone = content.Undone || state.Stored != nil && content.Written.Rest == state.Written.Rest
		}
	}
	content.merge(agreed, state)
	content.Changed = content.Changed || content.Written.String() != state.Written.String()
	return content
}

// merge adds the variables.
func (c *Content) merge(agreed Agreed, state State) {
	wanted, stored, sealed := variablesOf(state.Displaced), variablesOf(state.Stored), map[string]bool{}
	for _, one := range agreed.Variables {
		if _, displaced := wanted[one.Name]; !displaced || one.Sealed {
			wanted[one.Name] = one.Value
		}
		if one.Sealed && !state.Forced {
			sealed[one.Name] = true
		}
	}
	var list []any
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		value := wanted[name]
		c.Written.Variables[name] = value
		before, wrote := state.Written.Variables[name]
		is, exists := stored[name]
		switch {
		case exists && is == value:
		case exists && !sealed[name] && (!wrote || is != before):
			value = is // another writer's counts
			if wrote {
				c.Written.Variables[name] = before
			}
		default:
			c.Changed = true
			c.Undone = c.Undone || state.Stored != nil && wrote && before == value
		}
		list = append(list, map[string]any{"name": name, "value": value})
	}
	for name, before := range state.Written.Variables {
		_, still := wanted[name]
		if is, exists := stored[name]; !still && exists && is == before {
			c.Changed = true
		}
	}
	if len(list) > 0 {
		c.Spec[fieldVariables] = list
	}
	c.Written.Sealed = slices.Sorted(maps.Keys(sealed))
}

// variablesOf are those of a spec.
func variablesOf(spec map[string]any) map[string]string {
	all := map[string]string{}
	list, _ := spec[fieldVariables].([]any)
	for _, entry := range list {
		if variable, isMap := entry.(map[string]any); isMap {
			name, _ := variable["name"].(string)
			value, _ := variable["value"].(string)
			all[name] = value
		}
	}
	return all
}

// digest identifies a value.
func digest(value map[string]any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:8])
}
