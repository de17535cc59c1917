package ocm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	sprig "github.com/go-task/slim-sprig/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// bootstrapTemplates create the account that managed clusters register with.
var bootstrapTemplates = []string{"bootstrap_sa.yaml", "bootstrap_cluster_role.yaml", "bootstrap_sa_cluster_role_binding.yaml"}

// renderChart renders templates of OCM's chart with its default values, and with
// bootstrapTemplates enabled.
//
// Helm's own engine would add a dozen modules to Interlock's go.mod. OCM's chart calls few functions, and slim-sprig,
// which Ginkgo requires anyway, has most of them.
func renderChart(folder string, templates ...string) ([]*unstructured.Unstructured, error) {
	values, err := os.ReadFile(filepath.Join(folder, "values.yaml"))
	if err != nil {
		return nil, err
	}
	chosen := map[string]any{}
	if err := yaml.Unmarshal(values, &chosen); err != nil {
		return nil, fmt.Errorf("%s/values.yaml: %w", folder, err)
	}
	chosen["createBootstrapSA"] = true
	parsed, err := parseChart(filepath.Join(folder, "templates"), templates)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, name := range templates {
		var text bytes.Buffer
		if err := parsed.ExecuteTemplate(&text, name, map[string]any{
			"Values": chosen, "Release": map[string]any{"Namespace": operatorNamespace},
		}); err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text.Bytes(), &object.Object); err != nil {
			return nil, fmt.Errorf("%s in %s: %w", name, folder, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// parseChart reads the templates, with the templates that they include.
func parseChart(folder string, names []string) (*template.Template, error) {
	parsed := template.New("chart")
	parsed.Funcs(sprig.TxtFuncMap()).Funcs(template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var text strings.Builder
			err := parsed.ExecuteTemplate(&text, name, data)
			return text.String(), err
		},
		"toYaml": func(value any) (string, error) {
			text, err := yaml.Marshal(value)
			return strings.TrimSuffix(string(text), "\n"), err
		},
		"required": func(message string, value any) (any, error) {
			if value == nil || value == "" {
				return nil, errors.New(message)
			}
			return value, nil
		},
	})
	paths := []string{filepath.Join(folder, "_helpers.tpl")}
	for _, name := range names {
		paths = append(paths, filepath.Join(folder, name))
	}
	return parsed.ParseFiles(paths...)
}
