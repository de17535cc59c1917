package index

import (
	gojson "encoding/json"
	"errors"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/regularfile"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxFile is how large a file may be, in bytes.
const maxFile = 16 << 20

// readFile reads a file into an object of a kind. Its error names the file and the field.
func readFile(path, kind string, into any) error {
	content, err := contentOf(path)
	if err != nil {
		return err
	}
	if err := decode(content, kind, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
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

// decode reads YAML or JSON as strictly as an API server: no unknown or repeated field.
func decode(content []byte, kind string, into any) error {
	raw, err := yaml.YAMLToJSONStrict(content)
	if err != nil {
		return err
	}
	var of metav1.TypeMeta
	if err := gojson.Unmarshal(raw, &of); err != nil {
		return errors.New("it must be an object")
	}
	if want := typeOf(kind); of != want {
		return fmt.Errorf("apiVersion and kind: must be %s and %s, not %q and %q",
			want.APIVersion, kind, text.Excerpt(of.APIVersion), text.Excerpt(of.Kind))
	}
	strict, err := json.UnmarshalStrict(raw, into)
	var mistyped *gojson.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return fmt.Errorf("%s: must be of type %s, not %s", mistyped.Field, mistyped.Type, mistyped.Value)
	}
	return errors.Join(append(strict, err)...)
}

func typeOf(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: dependencyv1alpha1.GroupVersion.String(), Kind: kind}
}
