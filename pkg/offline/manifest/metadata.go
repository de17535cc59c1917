package manifest

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
)

// mistyped is a name, an annotation or a label whose value is no string. YAML reads an unquoted 1.10 as the number 1.1.
type mistyped struct {
	// parent is metadata.annotations, metadata.labels, or metadata.
	parent, key string
	value       any
	// written is the value as the file has it. It is empty if that is not known.
	written string
}

func (m *mistyped) field() string {
	if m.parent == metadataField {
		return m.parent + "." + m.key
	}
	return fmt.Sprintf("%s[%s]", m.parent, m.key)
}

func (m *mistyped) Error() string {
	written := m.written
	if written == "" {
		written = fmt.Sprint(m.value)
	}
	switch m.value.(type) {
	case bool:
		return fmt.Sprintf("%s: its value %s is a boolean, and must be a string: put it in quotes, %q", m.field(), written, written)
	case int64, float64:
		return fmt.Sprintf("%s: its value %s is a number, and must be a string: put it in quotes, %q", m.field(), written, written)
	default:
		return m.field() + ": its value must be a string: put it in quotes"
	}
}

// Mistyped judges the first name, annotation or label of the object whose value is no string. It returns nil if there is none.
func (o *Object) Mistyped() *review.Judgement {
	wrong := o.mistyped()
	if wrong == nil {
		return nil
	}
	judged := judgeField(wrong.field(), wrong.Error())
	return &judged
}

// Duplicates judges the fields that the object has twice in its file.
func (o *Object) Duplicates() []review.Judgement { return o.origin.duplicates() }

// mistyped returns the first name, annotation or label of the object whose value is no string, or nil.
func (o *Object) mistyped() *mistyped {
	metadata, _ := o.Object[metadataField].(map[string]any)
	return mistypedIn(metadata, o.origin.written)
}

const metadataField = "metadata"

// mistypedIn returns the first name, annotation or label in metadata whose value is no string, or nil. find returns the value of a key as the
// file has it.
func mistypedIn(metadata map[string]any, find func(path ...string) string) *mistyped {
	for _, key := range []string{"name", "generateName", "namespace"} {
		if _, isString := metadata[key].(string); !isString && metadata[key] != nil {
			return &mistyped{metadataField, key, metadata[key], find(metadataField, key)}
		}
	}
	for _, parent := range []string{"annotations", "labels"} {
		values, _ := metadata[parent].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if _, isString := values[key].(string); !isString && values[key] != nil {
				return &mistyped{metadataField + "." + parent, key, values[key], find(metadataField, parent, key)}
			}
		}
	}
	return nil
}

// written returns the value of a field as the file has it, or an empty string.
func (p place) written(path ...string) string {
	node := p.node
	for _, name := range path {
		if node == nil {
			return ""
		}
		_, node = member(node, name)
	}
	if node == nil || node.Kind != yaml.ScalarNode {
		return ""
	}
	return node.Value
}
