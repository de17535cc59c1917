package status

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/test/fixture"
)

// The cache has Degraded of the next leader, but not the declaration behind it.
func TestAConditionIsTakenBackOnlyWhenNothingIsDeclared(t *testing.T) {
	declaring := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: leaf.Name}}
	declaring.Spec.Dependencies = []addonv1alpha1.AddonDependency{{Name: "base"}}
	annotated := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{
		Name: leaf.Name, Annotations: map[string]string{addonv1alpha1.DependenciesAnnotation: "[{name: base}]"},
	}}
	bare := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: leaf.Name}}
	for name, test := range map[string]struct {
		registrations []client.Object
		writes        int
	}{
		"NotRegistered":        {nil, 1},
		"DeclaresNothing":      {[]client.Object{bare}, 1},
		"DeclaresByField":      {[]client.Object{declaring}, 0},
		"DeclaresByAnnotation": {[]client.Object{annotated}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			stored := conditionOf(
				addonv1alpha1.ManagedClusterAddOnConditionDegraded,
				metav1.ConditionTrue,
				addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied,
			)
			b := newBench(t, append(test.registrations, addOn(leaf.Name, stored))...)
			b.Declarations.Set(evaluation.New(catalog.New(nil)))
			result, err := b.reconcile(t)
			if err != nil || b.applies != test.writes {
				t.Errorf("%d writes, error %v; want %d", b.applies, err, test.writes)
			}
			if retries := result == controllers.AfterConflict; retries != (test.writes == 0) {
				t.Errorf("comes back: %t", retries)
			}
		})
	}
}

func TestOneRequestConfirmsForAllClusters(t *testing.T) {
	b := newBench(t)
	requests, failure := 0, errors.New("away")
	live := interceptor.NewClient(b.hub.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if requests++; requests == 1 {
				return failure
			}
			return c.List(ctx, list, options...)
		},
	})
	var u undeclaredCache
	for _, step := range []struct {
		elapsed  time.Duration
		want     error
		requests int
	}{{0, failure, 1}, {0, nil, 2}, {confirmedFor - time.Second, nil, 2}, {confirmedFor, nil, 3}} {
		confirmed, err := u.confirm(t.Context(), live, leaf.Name, "", aTime.Add(step.elapsed))
		if !errors.Is(err, step.want) || confirmed != (step.want == nil) || requests != step.requests {
			t.Errorf("after %s: %t, %v, %d requests", step.elapsed, confirmed, err, requests)
		}
	}
}

func TestDeclarationOfTemplateIsConfirmed(t *testing.T) {
	empty, declaring := fixture.Template("leaf", "empty", "[]"), fixture.Template("leaf", "other", "[{name: a}]")
	b := newBench(t, &empty, &declaring)
	for template, want := range map[string]bool{"empty": true, "other": false, "deleted": true} {
		var u undeclaredCache
		if got, err := u.confirm(t.Context(), b.hub, "leaf", template, aTime); err != nil || got != want {
			t.Errorf("%s: %t, error %v", template, got, err)
		}
	}
}
