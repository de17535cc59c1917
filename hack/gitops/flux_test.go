package gitops

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
)

// kustomization is the part of Flux's Kustomization that is tested.
type kustomization struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata"`
	Spec       struct {
		Wait             bool                          `json:"wait"`
		Prune            bool                          `json:"prune"`
		Interval         string                        `json:"interval"`
		Timeout          string                        `json:"timeout"`
		Path             string                        `json:"path"`
		SourceRef        map[string]string             `json:"sourceRef"`
		HealthCheckExprs []kustomize.CustomHealthCheck `json:"healthCheckExprs"`
	} `json:"spec"`
}

func TestFluxOnAddOns(t *testing.T) {
	var applied kustomization
	read(t, "flux-kustomization.yaml", &applied)
	if len(applied.Spec.HealthCheckExprs) != 1 || applied.Spec.HealthCheckExprs[0].Kind != "ManagedClusterAddOn" {
		t.Fatalf("the checks are %v", applied.Spec.HealthCheckExprs)
	}
	evaluator, err := cel.NewStatusEvaluator(&applied.Spec.HealthCheckExprs[0].HealthCheckExpressions)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range states(t) {
		t.Run(test.name, func(t *testing.T) {
			got, err := evaluator.Evaluate(t.Context(), object(t, test.addOn, "ManagedClusterAddOn", test.noStatus))
			switch {
			case test.fluxFails: // Flux then evaluates again until the time is over
				if err == nil || !strings.Contains(err.Error(), "no such attribute") {
					t.Errorf("it is %v (%v)", got, err)
				}
			case err != nil:
				t.Error(err)
			case string(got.Status) != test.flux:
				t.Errorf("it is %s, want %s", got.Status, test.flux)
			}
		})
	}
}
