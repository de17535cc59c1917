package deployment

import (
	"path"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/engine"
)

// notes returns the text that Helm shows after an installation.
func notes(t *testing.T, namespace, values string) string {
	t.Helper()
	chart, renderValues, err := load(namespace, values)
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := engine.Render(chart, renderValues)
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range rendered {
		if path.Base(file) == "NOTES.txt" {
			return content
		}
	}
	t.Fatal("the chart has no notes")
	return ""
}

func TestNotesSayWhatToDoNext(t *testing.T) {
	for name, test := range map[string]struct {
		namespace, values string
		want, absent      []string
	}{
		"the defaults": {
			namespace, "{}",
			[]string{
				"kubectl addon doctor\n", "helm test interlock -n interlock-system", "kubectl addon why", "--set agent.install=true",
				"helm uninstall interlock -n interlock-system --timeout 10m", "First a Job removes",
			},
			[]string{"kubectl addon hub", "field-selector", "port-forward"},
		},
		"addon-agent elsewhere": {
			"elsewhere", "agent: {install: true}",
			[]string{
				"kubectl addon doctor --interlock-namespace elsewhere\n", "the Placement open-cluster-management-global-set/global selects",
				"--field-selector metadata.name=interlock-agent", "helm uninstall interlock -n elsewhere",
			},
			[]string{"--set agent.install=true"},
		},
		"the console": {
			"elsewhere", "console: {enabled: true}", []string{"kubectl port-forward -n elsewhere service/interlock-console 8443:443"}, nil,
		},
		"without the Job": {namespace, "uninstall: {enabled: false}", []string{"because uninstall.enabled is false"}, []string{"First a Job removes"}},
	} {
		shown := notes(t, test.namespace, test.values)
		for _, want := range test.want {
			if !strings.Contains(shown, want) {
				t.Errorf("%s: no %q in\n%s", name, want, shown)
			}
		}
		for _, absent := range test.absent {
			if strings.Contains(shown, absent) {
				t.Errorf("%s: %q in\n%s", name, absent, shown)
			}
		}
	}
}
