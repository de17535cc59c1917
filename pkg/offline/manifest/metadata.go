package manifest

import (
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"

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
	raw, err := o.MarshalJSON()
	if err != nil {
		return nil // an object that was decoded from JSON can be encoded
	}
	return mistypedIn(raw, o.origin.written)
}

const metadataField = "metadata"

// mistypedIn returns the first name, annotation or label of an object in JSON whose value is no string, or nil. find returns the value of a
// key as the file has it.
func mistypedIn(object []byte, find func(path ...string) string) *mistyped {
	var read struct {
		Metadata map[string]any `json:"metadata"`
	}
	_ = json.Unmarshal(object, &read) // decoding the object reports the error
	for _, key := range []string{"name", "generateName", "namespace"} {
		if _, isString := read.Metadata[key].(string); !isString && read.Metadata[key] != nil {
			return &mistyped{metadataField, key, read.Metadata[key], find(metadataField, key)}
		}
	}
	for _, parent := range []string{"annotations", "labels"} {
		values, _ := read.Metadata[parent].(map[string]any)
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
