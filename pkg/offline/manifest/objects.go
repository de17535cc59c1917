package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"open-cluster-management.io/interlock/pkg/text"
)

// Object is an object of any kind in a file.
type Object struct {
	Path string
	unstructured.Unstructured
}

// Decode reads all objects in the content of a file.
func Decode(path string, content []byte) ([]Object, error) {
	decoded, err := objectsOfAnyKind(content)
	if err != nil {
		return nil, inFile(err, content)
	}
	var objects []Object
	for _, object := range decoded {
		raw, err := object.MarshalJSON()
		if err != nil {
			return nil, err
		}
		if wrong := mistypedIn(raw, writtenIn(content)); wrong != nil {
			return nil, fmt.Errorf("%s %s: %w", text.Name(object.GetKind()), text.Name(object.GetName()), wrong)
		}
		objects = append(objects, Object{path, object})
	}
	return objects, nil
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
		if err := object.UnmarshalJSON(document.Raw); err != nil {
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
