package index

import (
	"bufio"
	"bytes"
	gojson "encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/files/lineend"
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
	if err := checkDocument(content); err != nil {
		return err
	}
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
		return fieldErrorf(mistyped.Field, "must be %s, and is %s", typeNames[mistyped.Type.Kind()], mistyped.Value)
	}
	return errors.Join(append(strictErrs, err)...)
}

// typeNames has the names of Go's types in YAML.
var typeNames = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Bool: "true or false", reflect.Slice: "a list", reflect.Map: "an object", reflect.Struct: "an object",
}

// conflictMarker begins the lines that a merge of Git leaves in a file which it could not merge.
var conflictMarker = []byte("<<<<<<< ")

// checkDocument returns an error unless the content is one document. The decoder reads only the first one.
func checkDocument(content []byte) error {
	content = lineend.Unix(content)
	documents := 0
	for i, line := range bytes.Split(content, []byte("\n")) {
		if bytes.HasPrefix(line, conflictMarker) {
			return fmt.Errorf("line %d: a merge has left a conflict here: resolve it", i+1)
		}
	}
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content))); ; documents++ {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if isBlank(document) {
			documents--
		}
	}
	switch documents {
	case 0:
		return errors.New("it is empty")
	case 1:
		return nil
	default:
		return fmt.Errorf("it has %d documents, and must have one: write the others to files of their own", documents)
	}
}

// isBlank reports whether a document has only comments.
func isBlank(document []byte) bool {
	for line := range bytes.Lines(document) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) && !bytes.Equal(line, []byte("...")) {
			return false
		}
	}
	return true
}

func typeOf(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: dependencyv1alpha1.GroupVersion.String(), Kind: kind}
}
