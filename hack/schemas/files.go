package main

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/invopop/jsonschema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"open-cluster-management.io/interlock/pkg/offline/airgap"
	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/report"
)

// files are the kinds of files that no API server knows.
var files = map[string]any{
	index.WishesKind:  index.Wishes{},
	index.LockKind:    index.Lock{},
	index.ReleaseKind: index.Release{},
	airgap.Kind:       airgap.Description{},
}

// markers are lines for generators, such as +optional.
var markers = regexp.MustCompile(`(?m)^\+.*$`)

// fileSchemas returns the schemas of these files from their Go types, with the types' comments. The working folder is the repository.
func fileSchemas() (map[string]any, error) {
	reflector := &jsonschema.Reflector{
		ExpandedStruct: true, DoNotReference: true, Anonymous: true,
		Mapper: func(typ reflect.Type) *jsonschema.Schema {
			if typ == reflect.TypeFor[intstr.IntOrString]() {
				return &jsonschema.Schema{OneOf: []*jsonschema.Schema{{Type: "integer"}, {Type: "string"}}}
			}
			return nil
		},
	}
	for _, folder := range []string{"pkg/offline/index", "pkg/offline/airgap", "pkg/apis/addon/v1alpha1"} {
		if err := reflector.AddGoComments("open-cluster-management.io/interlock", folder); err != nil {
			return nil, err
		}
	}
	for name, comment := range reflector.CommentMap {
		reflector.CommentMap[name] = strings.TrimSpace(markers.ReplaceAllString(comment, ""))
	}
	schemas := map[string]any{}
	for kind, value := range files {
		schema := reflector.Reflect(value)
		schema.Version, schema.Title = draft, kind
		schema.Properties.Set("apiVersion", &jsonschema.Schema{Const: report.APIVersion})
		schema.Properties.Set("kind", &jsonschema.Schema{Const: kind})
		schemas[fileName(kind, "v1alpha1")] = schema
	}
	return schemas, nil
}
