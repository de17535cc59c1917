package rendering

import (
	"strings"
	"testing"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"open-cluster-management.io/interlock/pkg/cli/hubcmd/applyset"
)

func loadChart(t *testing.T) *chartv2.Chart {
	t.Helper()
	chart, err := loader.LoadDir("../../../../deploy/charts/interlock")
	if err != nil {
		t.Fatal(err)
	}
	return chart
}

func images(tag string) map[string]any {
	return map[string]any{"images": map[string]any{"prefix": "registry.test/interlock-", "tag": tag}}
}

func TestObjectsAreNotHelms(t *testing.T) {
	rendered, err := Render(loadChart(t), images("try"), Options{Namespace: "elsewhere", Kubernetes: "v1.35.1"})
	if err != nil {
		t.Fatal(err)
	}
	if len(rendered.Objects) < 40 {
		t.Fatalf("%d objects", len(rendered.Objects))
	}
	deployments := 0
	for _, object := range rendered.Objects {
		name := applyset.Describe(object)
		if got := object.GetLabels()["app.kubernetes.io/managed-by"]; got != applyset.Tool {
			t.Errorf("%s is managed by %q", name, got)
		}
		if object.GetAnnotations()["helm.sh/hook"] != "" {
			t.Errorf("%s is a hook", name)
		}
		if object.GetKind() == "Deployment" {
			deployments++
			if object.GetNamespace() != "elsewhere" {
				t.Errorf("%s is in another namespace", name)
			}
		}
	}
	if deployments != 2 {
		t.Errorf("%d Deployments", deployments)
	}
}

// The rights have to exist before the Job that needs them.
func TestUninstallEndsWithTheJob(t *testing.T) {
	rendered, err := Render(loadChart(t), images("try"), Options{Namespace: "interlock-system"})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, object := range rendered.PreDelete {
		kinds = append(kinds, object.GetKind())
	}
	last := len(kinds) - 1
	if last < 4 || !IsJob(rendered.PreDelete[last]) {
		t.Errorf("the uninstallation has %q", kinds)
	}
	for _, object := range rendered.PreDelete[:max(last, 0)] {
		if IsJob(object) {
			t.Errorf("a Job runs before %q", kinds)
		}
	}
}

func TestNotesNameTheToolThatInstalled(t *testing.T) {
	rendered, err := Render(loadChart(t), images("try"), Options{Namespace: "interlock-system"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kubectl addon doctor", "kubectl addon hub upgrade", "kubectl addon hub uninstall"} {
		if !strings.Contains(rendered.Notes, want) {
			t.Errorf("no %q in\n%s", want, rendered.Notes)
		}
	}
	if strings.Contains(rendered.Notes, "helm ") {
		t.Errorf("the notes name Helm:\n%s", rendered.Notes)
	}
}

func TestWrongValuesAreNamed(t *testing.T) {
	for name, test := range map[string]struct {
		values map[string]any
		want   string
	}{
		"unknown":     {map[string]any{"imagez": true}, "imagez"},
		"no registry": {nil, "images.prefix is empty"},
		"placeholder": {map[string]any{"images": map[string]any{"prefix": "registry.example.com/interlock-"}}, "placeholder"},
	} {
		_, err := Render(loadChart(t), test.values, Options{Namespace: "interlock-system"})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
