package main

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/benchmark/result"
)

const (
	evaluationMethod = `One core evaluates an add-on with 5 dependencies again and again: with all of them satisfied, and with all of them ` +
		`failing. A second measurement also decides on the condition. Where dependencies fail, this is mostly the composition ` +
		`of the message.`
	evaluatedEdges = 5
	minEdgesPerSec = 1e6
)

func pureEvaluation(_ context.Context, s *session, results *result.Scenario) error {
	now := metav1.Now()
	addOn := addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "evaluated"}}
	addOns := []addonv1alpha1.ClusterManagementAddOn{}
	for i := range evaluatedEdges {
		name := fmt.Sprintf("dependency-%d", i)
		addOn.Spec.Dependencies = append(addOn.Spec.Dependencies, addonv1alpha1.AddonDependency{
			Name: name, Type: addonv1alpha1.DependencyTypeRequired, Message: "It does not work without.",
		})
		addOns = append(addOns, addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	evaluator := evaluation.New(catalog.New(append(addOns, addOn)))
	cluster := evaluation.Cluster{Available: metav1.ConditionTrue, Now: now.Time, Offline: evaluation.OfflineHold}

	for range s.repetitions {
		for _, state := range []struct {
			name   string
			status metav1.ConditionStatus
		}{{"satisfied", metav1.ConditionTrue}, {"failing", metav1.ConditionFalse}} {
			observation := evaluation.Observation{Installed: true, Available: &metav1.Condition{
				Type: "Available", Status: state.status, Reason: "Measured", LastTransitionTime: now,
			}}
			loadedState := evaluator.State(addOn.Name, cluster, func(string) evaluation.Observation { return observation })
			verdicts := testing.Benchmark(func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					evaluator.Evaluate(addOn.Name, loadedState)
				}
			})
			decisions := testing.Benchmark(func(b *testing.B) {
				for b.Loop() {
					condition.Decide(condition.Stored{}, evaluator.Evaluate(addOn.Name, loadedState), now)
				}
			})
			results.Bound("edges per second and core, all "+state.name, "", edgesPerSecond(verdicts), result.MedianAtLeast, minEdgesPerSec)
			results.Measure("the same with the condition, all "+state.name, "", edgesPerSecond(decisions))
			if state.status == metav1.ConditionTrue {
				results.Bound("allocations per evaluation, all satisfied", "", float64(verdicts.AllocsPerOp()), result.NeverAbove, 0)
			}
		}
	}
	return nil
}

func edgesPerSecond(benchmark testing.BenchmarkResult) float64 {
	return evaluatedEdges * float64(benchmark.N) / benchmark.T.Seconds()
}
