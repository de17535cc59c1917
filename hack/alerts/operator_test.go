package alerts

import (
	"bytes"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"sigs.k8s.io/yaml"
)

// The Prometheus Operator drops or refuses fields that its types do not have.
func TestObjectsOfThePrometheusOperator(t *testing.T) {
	podMonitor := &monitoringv1.PodMonitor{}
	rule := &monitoringv1.PrometheusRule{}
	for file, object := range map[string]struct {
		kind   string
		object any
	}{
		"docs/examples/agent-podmonitor.yaml":       {kind: monitoringv1.PodMonitorsKind, object: podMonitor},
		"deploy/alerts/prometheusrule.yaml":         {kind: monitoringv1.PrometheusRuleKind, object: rule},
		"deploy/servicemonitor/servicemonitor.yaml": {kind: monitoringv1.ServiceMonitorsKind, object: &monitoringv1.ServiceMonitor{}},
	} {
		if err := yaml.UnmarshalStrict(document(t, file, object.kind), object.object); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	if len(podMonitor.Spec.PodMetricsEndpoints) != 1 || podMonitor.Spec.PodMetricsEndpoints[0].Authorization.Credentials.Name != "interlock-metrics-reader" {
		t.Errorf("the PodMonitor has the endpoints %+v", podMonitor.Spec.PodMetricsEndpoints)
	}
	if len(rule.Spec.Groups) == 0 {
		t.Error("the PrometheusRule has no groups")
	}
}

// document returns the document of this kind in a file with several documents.
func document(t *testing.T, file, kind string) []byte {
	t.Helper()
	for document := range strings.SplitSeq(read(t, file), "\n---\n") {
		if bytes.Contains([]byte("\n"+document), []byte("\nkind: "+kind+"\n")) {
			return []byte(document)
		}
	}
	t.Fatalf("%s has no %s", file, kind)
	return nil
}
