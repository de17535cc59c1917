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

	"open-cluster-management.io/interlock/pkg/regularfile"
)

// Object is an object of a file, of any kind.
type Object struct {
	Path string
	unstructured.Unstructured
}

// Objects reads all objects in files, - for standard input, and in folders.
func Objects(paths []string, in io.Reader) ([]Object, error) {
	var all []Object
	for _, path := range paths {
		files, err := filesIn(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			content, err := regularfile.ReadAll(file, in)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			objects, err := Decode(file, content)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			all = append(all, objects...)
		}
	}
	return all, nil
}

// Decode reads all objects of a file with that content.
func Decode(path string, content []byte) (all []Object, err error) {
	objects, err := objectsOfAnyKind(content)
	for _, one := range objects {
		all = append(all, Object{path, one})
	}
	return all, err
}

func objectsOfAnyKind(content []byte) (all []unstructured.Unstructured, err error) {
	for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096); ; {
		var document runtime.RawExtension
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(document.Raw)) == 0 || string(document.Raw) == "null" {
			continue
		}
		var object unstructured.Unstructured
		if err := object.UnmarshalJSON(document.Raw); err != nil {
			return nil, err
		}
		if _, isList := object.Object["items"].([]any); !isList || !strings.HasSuffix(object.GetKind(), listKind) {
			all = append(all, object)
			continue
		}
		list, err := object.ToList()
		if err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
	}
}
