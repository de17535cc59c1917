package ocm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// From OCM 1.3 on, templates of OCM's chart include others. The chart that builds
// with OCM's module does not, so the suites do not show that this works.
func TestRenderChart(t *testing.T) {
	const account = `apiVersion: v1
kind: ServiceAccount
metadata:
  name: cluster-manager
  namespace: {{ .Release.Namespace }}
imagePullSecrets: {{- include "secrets" . | nindent 2 }}
`
	const helpers = `{{- define "secrets" -}}
{{- if .Values.secrets -}}
{{ .Values.secrets | toYaml }}
{{- else -}}
- name: {{ include "name" . | quote }}
{{- end -}}
{{- end }}
{{- define "name" -}}{{ required "name must be set" .Values.name }}{{- end }}
`
	for _, test := range []struct {
		name, values, want, err string
	}{
		{name: "a template includes another, which includes a third", values: "name: default", want: "default"},
		{name: "a list of values", values: "secrets: [{name: first}]", want: "first"},
		{name: "a required value is empty", values: `name: ""`, err: "name must be set"},
		{name: "a required value is absent", values: "other: value", err: "name must be set"},
		{name: "values are not YAML", values: "name: [", err: "values.yaml"},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, folder, "Chart.yaml", "{apiVersion: v2, name: cluster-manager, version: 1.0.0}")
			write(t, folder, "values.yaml", test.values)
			write(t, folder, "templates/_helpers.tpl", helpers)
			write(t, folder, "templates/account.yaml", account)
			objects, err := renderChart(folder, "account.yaml")
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error %v, want one with %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if namespace := objects[0].GetNamespace(); namespace != operatorNamespace {
				t.Errorf("namespace %q, want %q", namespace, operatorNamespace)
			}
			secrets, _, _ := unstructured.NestedSlice(objects[0].Object, "imagePullSecrets")
			if len(secrets) != 1 || secrets[0].(map[string]any)["name"] != test.want {
				t.Errorf("imagePullSecrets %v, want one with the name %q", secrets, test.want)
			}
		})
	}
}

func write(t *testing.T, folder, name, content string) {
	t.Helper()
	path := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
