package index

import (
	gojson "encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/files/regularfile"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxFile is the maximum size of a file in bytes.
const maxFile = 16 << 20

// readFile reads a file into an object of a kind. Its error names the file and the field.
func readFile(path, kind string, object any) error {
	content, err := contentOf(path)
	if err != nil {
		return err
	}
	return located(path, content, decode(content, kind, object))
}

// fieldError is an error about a field of a file.
type fieldError struct {
	field string
	error
}

// FieldPath returns the path of the field. Errors about unknown fields have the same method.
func (e fieldError) FieldPath() string { return e.field }

// Unwrap returns the cause.
func (e fieldError) Unwrap() error { return e.error }

// fieldErrorf returns an error that names the field.
func fieldErrorf(field, format string, arguments ...any) error {
	return fieldError{field, fmt.Errorf(field+": "+format, arguments...)}
}

// located adds the path of a file to an error about it, and the line of the field.
func located(path string, content []byte, err error) error {
	if err == nil {
		return nil
	}
	var field interface{ FieldPath() string }
	if errors.As(err, &field) {
		if line := manifest.LineOf(content, field.FieldPath()); line > 0 {
			return fmt.Errorf("%s: line %d: %w", path, line, err)
		}
	}
	return fmt.Errorf("%s: %w", path, err)
}

func contentOf(path string) (content []byte, err error) {
	file, err := regularfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	content, err = io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("%s: it has more than %d bytes", path, maxFile)
	}
	return content, err
}

// decode reads YAML or JSON into an object. Like an API server, it refuses unknown and repeated fields.
func decode(content []byte, kind string, object any) error {
	raw, err := yaml.YAMLToJSONStrict(content)
	if err != nil {
		return err
	}
	var typeMeta metav1.TypeMeta
	if err := gojson.Unmarshal(raw, &typeMeta); err != nil {
		return errors.New("it must be an object")
	}
	if want := typeOf(kind); typeMeta != want {
		return fmt.Errorf("apiVersion and kind: must be %s and %s, not %q and %q",
			want.APIVersion, kind, text.Excerpt(typeMeta.APIVersion), text.Excerpt(typeMeta.Kind))
	}
	strictErrs, err := json.UnmarshalStrict(raw, object)
	var mistyped *gojson.UnmarshalTypeError
	if errors.As(err, &mistyped) && mistyped.Type.Kind() == reflect.String && slices.Contains([]string{"number", "bool"}, mistyped.Value) {
		return fieldErrorf(mistyped.Field, "must be a string, and is a %s: put it in quotes", mistyped.Value)
	}
	if mistyped != nil {
		return fieldErrorf(mistyped.Field, "must be of type %s, not %s", mistyped.Type, mistyped.Value)
	}
	return errors.Join(append(strictErrs, err)...)
}

func typeOf(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: dependencyv1alpha1.GroupVersion.String(), Kind: kind}
}
