package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
)

// Fields of the spec of an AddOnDeploymentConfig that Interlock does not only copy.
const (
	fieldVariables = "customizedVariables"
	fieldNamespace = "agentInstallNamespace"
)

// Written is the content that Interlock last wrote to an AddOnDeploymentConfig. Differences to it are changes of other writers.
type Written struct {
	// Variables are the desired values, by variable.
	Variables map[string]string `json:"variables,omitempty"`
	// Sealed are the variables, ascending, that no other writer may change.
	Sealed []string `json:"sealed,omitempty"`
	// Rest is the digest of all other fields.
	Rest string `json:"rest,omitempty"`
	// Undone is the record of other writers that undo the settings. Make keeps it as it is.
	Undone Undone `json:"undone,omitzero"`
}

// ReadWritten parses an annotation. An unreadable annotation counts as empty.
func ReadWritten(annotation string) Written {
	var written Written
	if json.Unmarshal([]byte(annotation), &written) != nil {
		return Written{}
	}
	return written
}

// String returns the value of the annotation.
func (w Written) String() string {
	encoded, err := json.Marshal(w)
	if err != nil {
		return err.Error() // strings and times of these years always have an encoding
	}
	return string(encoded)
}

// State is the observed state of the AddOnDeploymentConfig that an add-on gets from Interlock. Make does not modify its specs.
type State struct {
	// Displaced is the spec of the AddOnDeploymentConfig that the add-on would get otherwise. It may be nil.
	Displaced map[string]any
	// Stored is the stored spec. It is nil if the object does not exist.
	Stored  map[string]any
	Written Written
	// Forced is whether an administrator lets other writers change sealed variables, with a reason.
	Forced bool
}

// Content is the desired content of an AddOnDeploymentConfig.
type Content struct {
	Spec    map[string]any
	Written Written
	// Changed is whether the stored content is different.
	Changed bool
	// Undone is whether another writer has replaced a value that Interlock wrote and still desires.
	Undone bool
}

// Make returns the content of the AddOnDeploymentConfig: a copy of the displaced object, and the variables that the dependents agree on.
// A required variable whose value is unknown keeps the written value: its source may be gone for a moment, and the add-on cannot work without
// it. A sealed variable has the dependents' value, unless an administrator overrules that. For any other variable, the value of another
// writer takes precedence, and then the value of the displaced AddOnDeploymentConfig.
func Make(agreed Agreed, state State) Content {
	rest := map[string]any{fieldNamespace: ""} // the default of its schema would move the agent
	for key, value := range state.Displaced {
		if key != fieldVariables {
			rest[key] = value
		}
	}
	content := Content{Spec: maps.Clone(rest), Written: Written{
		Variables: map[string]string{},
		Rest:      digest(rest),
		Undone:    state.Written.Undone,
	}}
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

// merge adds the variables to the spec, and compares them with the stored ones.
func (c *Content) merge(agreed Agreed, state State) {
	desired, stored, sealed := variablesOf(state.Displaced), variablesOf(state.Stored), map[string]bool{}
	for _, variable := range slices.Concat(agreed.Variables, known(agreed.Unknown, state.Written)) {
		if _, displaced := desired[variable.Name]; !displaced || variable.Sealed {
			desired[variable.Name] = variable.Value
		}
		if variable.Sealed && !state.Forced {
			sealed[variable.Name] = true
		}
	}
	var list []any
	for _, name := range slices.Sorted(maps.Keys(desired)) {
		value := desired[name]
		c.Written.Variables[name] = value
		previous, wrote := state.Written.Variables[name]
		current, exists := stored[name]
		switch {
		case exists && current == value:
		case exists && !sealed[name] && (!wrote || current != previous):
			value = current // set by another writer
			if wrote {
				c.Written.Variables[name] = previous
			}
		default:
			c.Changed = true
			c.Undone = c.Undone || state.Stored != nil && wrote && previous == value
		}
		list = append(list, map[string]any{"name": name, "value": value})
	}
	for name, previous := range state.Written.Variables {
		_, ok := desired[name]
		if current, exists := stored[name]; !ok && exists && current == previous {
			c.Changed = true
		}
	}
	if len(list) > 0 {
		c.Spec[fieldVariables] = list
	}
	c.Written.Sealed = slices.Sorted(maps.Keys(sealed))
}

// known returns the variables that Interlock has written before, with these values.
func known(unknown []Variable, written Written) (variables []Variable) {
	for _, variable := range unknown {
		if value, wrote := written.Variables[variable.Name]; wrote {
			variable.Value = value
			variables = append(variables, variable)
		}
	}
	return variables
}

// variablesOf returns the values of the variables of a spec, by name.
func variablesOf(spec map[string]any) map[string]string {
	values := map[string]string{}
	list, _ := spec[fieldVariables].([]any)
	for _, entry := range list {
		if variable, isMap := entry.(map[string]any); isMap {
			name, _ := variable["name"].(string)
			value, _ := variable["value"].(string)
			values[name] = value
		}
	}
	return values
}

// digest returns a short hash of the value.
func digest(value map[string]any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:8])
}
