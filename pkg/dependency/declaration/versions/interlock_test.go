package versions

import (
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// A release has the version of the chart, see hack/release.
func TestInterlockIsTheVersionOfTheChart(t *testing.T) {
	raw, err := os.ReadFile("../../../../deploy/charts/interlock/Chart.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var chart struct {
		AppVersion string `json:"appVersion"`
	}
	if err := yaml.Unmarshal(raw, &chart); err != nil {
		t.Fatal(err)
	}
	if chart.AppVersion != Interlock.String() {
		t.Errorf("the chart has appVersion %s, and Interlock is %s", chart.AppVersion, Interlock)
	}
}
