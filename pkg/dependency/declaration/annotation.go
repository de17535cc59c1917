package declaration

import (
	"bufio"
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/schema"
	"open-cluster-management.io/interlock/pkg/text/rawjson"
)

var (
	errAliases   = errors.New("YAML aliases are not supported")
	errDocuments = errors.New("it holds more than one YAML document")
	errScalar    = errors.New("it is one value")

	anchor = regexp.MustCompile(`[&*][0-9A-Za-z_-]+`)
)

// annotationObject is the value of an annotation that is an object instead of a list.
type annotationObject struct {
	Dependencies []addonv1alpha1.AddonDependency  `json:"dependencies,omitempty"`
	Requirements *addonv1alpha1.AddonRequirements `json:"requirements,omitempty"`
	Provides     []addonv1alpha1.AddonAPI         `json:"provides,omitempty"`
	Ordering     addonv1alpha1.Ordering           `json:"ordering,omitempty"`
}

// parseAnnotation reads an annotation and validates it.
func parseAnnotation(text string) (declared, error) {
	parsed, err := parseAt(AnnotationPath, text)
	if err != nil {
		return declared{}, err
	}
	return parsed, parsed.validate().ToAggregate()
}

// parseAt parses the annotation at a path, a list or an object. It accepts unknown fields and types, because
// the declaration may be for a later version of Interlock.
func parseAt(path *field.Path, text string) (declared, error) {
	if err := tooLarge(text); err != nil {
		return declared{}, err
	}
	// Each alias of a long text copies it when YAML becomes JSON, so that some
	// kilobytes of aliases would fill the memory of the hub.
	if hasAlias(text) {
		return declared{}, errAliases
	}
	if severalDocuments(text) {
		return declared{}, errDocuments
	}
	var content any
	if err := yaml.UnmarshalStrict([]byte(text), &content); err != nil {
		return declared{}, err
	}
	content = schema.WithoutNulls(content)
	var parsed declared
	switch content := content.(type) {
	case nil: // null, or nothing but comments
		return declared{path: path, parent: path}, nil
	case map[string]any:
		parsed, parsed.decodeErr = readFields(content)
		parsed.path = path.Child("dependencies")
	case []any:
		parsed, parsed.decodeErr = readFields(map[string]any{"dependencies": content})
		parsed.path = path
	default:
		return declared{}, errScalar
	}
	parsed.parent, parsed.content = path, content
	return parsed, nil
}

// tooLarge returns an error for a text that is too large to be parsed. A parser needs up to 2 KiB for
// a value of two bytes.
func tooLarge(text string) error {
	if len(text) > maxAnnotation {
		return fmt.Errorf("it has %d bytes; at most %d are read", len(text), maxAnnotation)
	}
	if count := countValues([]byte(text)); count > MaxValues {
		return fmt.Errorf("it has about %d values; at most %d are read", count, MaxValues)
	}
	return nil
}

func countValues(text []byte) int {
	if stdjson.Valid(text) {
		return rawjson.Count(text)
	}
	return rawjson.CountYAML(text, "\n", "\r")
}

// hasAlias reports whether text has an anchor &x and an alias *x for it.
func hasAlias(text string) bool {
	if !strings.Contains(text, "&") || !strings.Contains(text, "*") {
		return false
	}
	seen := map[string]bool{}
	for _, mark := range anchor.FindAllString(text, -1) {
		if mark[0] == '&' {
			seen[mark[1:]] = true
		} else if seen[mark[1:]] {
			return true
		}
	}
	return false
}

func severalDocuments(text string) bool {
	reader := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	for count := 0; ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return false
		}
		if err != nil {
			return false // the parser reports it
		}
		if len(bytes.TrimSpace(document)) > 0 {
			count++
		}
		if count > 1 {
			return true
		}
	}
}
