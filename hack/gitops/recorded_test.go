package gitops

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"github.com/fluxcd/pkg/runtime/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const (
	credentialsMissing = "Required addon 'credentials' is not installed or not available. Cluster credentials cannot be issued. " +
		"(not installed: its install strategy is Manual)"
	tunnelMissing = "Required addon 'tunnel' is not installed or not available. There is no way to the cluster. " +
		"(not installed: it has no ClusterManagementAddOn on this hub)"
	relayMissing = "Optional addon 'relay' is not installed or not available. Clusters behind a firewall are unreachable. " +
		"(not installed: it has no ClusterManagementAddOn on this hub)"
	absent = "Required addon 'absent' is not installed or not available. Nothing is there. " +
		"(not installed: it has no ClusterManagementAddOn on this hub)"
	registered = "The add-on is registered."
)

// recorded are objects that OCM and Interlock wrote, by their file in testdata. The suite
// test/integration/gitops records them, and compares them with current objects.
var recorded = map[string]struct{ argo, message, flux string }{
	"not-reported.yaml":     {"Progressing", "The status of credentials add-on is unknown.", "InProgress"},
	"healthy.yaml":          {"Healthy", "credentials add-on is available.", "Current"},
	"required-missing.yaml": {"Degraded", credentialsMissing, "Failed"},
	"recovered.yaml":        {"Healthy", "gateway add-on is available.", "Current"},
	"optional-missing.yaml": {"Healthy", relayMissing, "Current"},

	"template-required-missing.yaml": {"Degraded", tunnelMissing, "Failed"},
	"template-recovered.yaml":        {"Healthy", "templated add-on is available.", "Current"},

	"installing.yaml": {"Progressing", "The status of placed add-on is unknown.", "InProgress"},
	// Its Deployment has no ready pod yet. OCM's Progressing is False already.
	"starting.yaml":  {"Progressing", "Probe addon unavailable with err readyReplica is not probed", "InProgress"},
	"installed.yaml": {"Healthy", "placed add-on is available.", "Current"},

	"deleting.yaml": {"Progressing", leaving, "InProgress"},

	"lost.yaml":                  {"Progressing", lost, "InProgress"},
	"lost-optional-missing.yaml": {"Progressing", lost, "InProgress"},
	"lost-required-missing.yaml": {"Degraded", absent, "Failed"},

	"registration-installing.yaml": {"Progressing", "1/1 progressing..., 0 failed 0 timeout.", "Current"},
	"registration-installed.yaml":  {"Healthy", registered, "Current"},
	"registration-deleting.yaml":   {"Progressing", leaving, "Terminating"},
}

func TestRecordedObjects(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if _, expected := recorded[filepath.Base(file)]; !expected {
			t.Errorf("%s: no health is expected of it", file)
		}
	}
	for file, want := range recorded {
		t.Run(strings.TrimSuffix(file, ".yaml"), func(t *testing.T) {
			stored := recordedIn(t, file)
			if status, message := health(t, stored); status != want.argo || message != want.message {
				t.Errorf("for Argo CD it is %s: %s\nwant %s: %s", status, message, want.argo, want.message)
			}
			if got := fluxStatus(t, stored); got != want.flux {
				t.Errorf("for Flux it is %s, want %s", got, want.flux)
			}
		})
	}
}

func recordedIn(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := yaml.YAMLToJSON(content)
	if err != nil {
		t.Fatal(err)
	}
	stored := &unstructured.Unstructured{}
	if err := stored.UnmarshalJSON(decoded); err != nil {
		t.Fatal(err)
	}
	return stored
}

// fluxStatus returns the status of an object by the check of its kind. If its kind has no
// check, Flux's own rules apply.
func fluxStatus(t *testing.T, stored *unstructured.Unstructured) string {
	t.Helper()
	var applied kustomization
	read(t, "flux-kustomization.yaml", &applied)
	compute := status.Compute
	for i := range applied.Spec.HealthCheckExprs {
		check := &applied.Spec.HealthCheckExprs[i]
		if check.APIVersion != stored.GetAPIVersion() || check.Kind != stored.GetKind() {
			continue
		}
		evaluator, err := cel.NewStatusEvaluator(&check.HealthCheckExpressions)
		if err != nil {
			t.Fatal(err)
		}
		compute = func(stored *unstructured.Unstructured) (*status.Result, error) {
			return evaluator.Evaluate(t.Context(), stored)
		}
	}
	result, err := compute(stored)
	if err != nil {
		t.Fatal(err)
	}
	return string(result.Status)
}
