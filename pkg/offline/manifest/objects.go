package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"open-cluster-management.io/interlock/pkg/text"
)

// Object is an object of any kind in a file.
type Object struct {
	Path string
	unstructured.Unstructured
	origin place
}

// Line returns the line of a field in the file, or of the nearest field around it. It returns 0 if the line is not known.
func (o *Object) Line(field string) int { return o.origin.line(field) }

// Location returns the file of an object, with the line of a field if it is known.
func (o *Object) Location(field string) string {
	if line := o.Line(field); line > 0 {
		return fmt.Sprintf("%s:%d", o.Path, line)
	}
	return o.Path
}

// WithoutLines returns the object for content that is no file itself, such as a rendered template.
func (o Object) WithoutLines() Object {
	o.origin.isRendered = true
	return o
}

// Decode reads all objects in the content of a file.
func Decode(path string, content []byte) ([]Object, error) {
	objects, err := decodeAnyKind(place{path: path}, content)
	if err != nil {
		return nil, err
	}
	for i := range objects {
		object := &objects[i]
		wrong := object.mistyped()
		if wrong == nil {
			continue
		}
		err := fmt.Errorf("%s: %w", strings.TrimSpace(text.Name(object.GetKind())+" "+text.Name(object.GetName())), wrong)
		if line := object.Line(wrong.field()); line > 0 {
			err = fmt.Errorf("line %d: %w", line, err)
		}
		return nil, err
	}
	return objects, nil
}

// decodeAnyKind reads all objects in the content of a file, also those with values of a wrong type.
func decodeAnyKind(file place, content []byte) ([]Object, error) {
	decoded, err := objectsOfAnyKind(content)
	if err != nil {
		return nil, inFile(err, content)
	}
	nodes := nodesOfAnyKind(content)
	objects := make([]Object, len(decoded))
	for i := range decoded {
		objects[i] = Object{Path: file.path, Unstructured: decoded[i], origin: file}
		if len(nodes) == len(decoded) { // JSON that is not valid YAML has no nodes
			objects[i].origin.node = nodes[i]
		}
	}
	return objects, nil
}

// nodesOfAnyKind returns the nodes of the objects that objectsOfAnyKind returns.
func nodesOfAnyKind(content []byte) []*yaml.Node {
	var nodes []*yaml.Node
	for decoder := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			return nodes
		}
		if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
			continue
		}
		_, kind := member(document.Content[0], "kind")
		_, items := member(document.Content[0], "items")
		if kind != nil && strings.HasSuffix(kind.Value, listKind) && items != nil && items.Kind == yaml.SequenceNode {
			nodes = append(nodes, items.Content...)
			continue
		}
		nodes = append(nodes, document.Content[0])
	}
}

// inFile returns an error of syntax with a line that counts from the beginning of the file. That of the library counts from the beginning
// of a document.
func inFile(err error, content []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(content), []byte("{")) {
		return err
	}
	if _, syntaxErr := nodesOf(content); syntaxErr != nil {
		return syntaxErr
	}
	if value := infinite(content); value != nil {
		return value
	}
	return err
}

// errNoObject is the error for a document that is a list or a word.
var errNoObject = errors.New("it must be an object of Kubernetes, with apiVersion and kind")

func objectsOfAnyKind(content []byte) ([]unstructured.Unstructured, error) {
	var objects []unstructured.Unstructured
	for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096); ; {
		var document runtime.RawExtension
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(document.Raw)) == 0 || string(document.Raw) == "null" {
			continue
		}
		if !bytes.HasPrefix(bytes.TrimSpace(document.Raw), []byte("{")) {
			return nil, errNoObject
		}
		var object unstructured.Unstructured
		if err := object.UnmarshalJSON(document.Raw); runtime.IsMissingKind(err) {
			return nil, errNoObject
		} else if err != nil {
			return nil, err
		}
		if _, isList := object.Object["items"].([]any); !isList || !strings.HasSuffix(object.GetKind(), listKind) {
			objects = append(objects, object)
			continue
		}
		list, err := object.ToList()
		if err != nil {
			return nil, err
		}
		objects = append(objects, list.Items...)
	}
}
