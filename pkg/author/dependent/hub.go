package dependent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// NewHub returns a reader of the hub for Ordered. It needs the right to get
// clustermanagementaddons and managedclusteraddons.
func NewHub(config *rest.Config) (client.Reader, error) {
	scheme := runtime.NewScheme()
	if err := addonv1alpha1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register add-on types: %w", err)
	}
	hub, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("create client of the hub: %w", err)
	}
	return hub, nil
}

// look reads what the add-on declares, and whether the add-ons that it requires
// are available on its cluster, with their own Required dependencies. It words those that are not, and reports
// whether it found requirements that are beyond it.
func look(ctx context.Context, hub client.Reader, installed *addonv1beta1.ManagedClusterAddOn) (unsatisfied string, beyond bool, err error) {
	registered := &addonv1alpha1.ClusterManagementAddOn{}
	if err := hub.Get(ctx, client.ObjectKey{Name: installed.Name}, registered); err != nil {
		return "", false, fmt.Errorf("read ClusterManagementAddOn %s: %w", installed.Name, err)
	}
	declared := declaration.Read(registered)
	if declared.Invalid {
		return fmt.Sprintf("ClusterManagementAddOn %s: its dependencies cannot be used; its events tell why", installed.Name), false, nil
	}
	beyond = declared.Requirements != nil
	var findings []evaluation.Finding
	for i := range declared.Dependencies {
		edge := &declared.Dependencies[i]
		if edge.Type == addonv1alpha1.DependencyTypeOptional {
			continue
		}
		if !plain(edge) {
			beyond = true
			continue
		}
		finding := evaluation.Finding{Dependency: edge, Verdict: evaluation.Satisfied}
		found := &addonv1alpha1.ManagedClusterAddOn{}
		err := hub.Get(ctx, client.ObjectKey{Namespace: installed.Namespace, Name: edge.Name}, found)
		switch {
		case apierrors.IsNotFound(err):
			finding.Verdict = evaluation.NotInstalled
		case err != nil:
			return "", false, fmt.Errorf("read ManagedClusterAddOn %s/%s: %w", installed.Namespace, edge.Name, err)
		case evaluation.RequiredFails(degradedOf(found)):
			finding.Verdict, finding.Degraded = evaluation.NotAvailable, degradedOf(found)
		case !meta.IsStatusConditionTrue(found.Status.Conditions, addonv1beta1.ManagedClusterAddOnConditionAvailable):
			finding.Verdict = evaluation.NotAvailable
			finding.Available = meta.FindStatusCondition(found.Status.Conditions, addonv1beta1.ManagedClusterAddOnConditionAvailable)
		}
		findings = append(findings, finding)
	}
	return condition.Message(findings, condition.MaxMessage), beyond, nil
}

func degradedOf(addOn *addonv1alpha1.ManagedClusterAddOn) *metav1.Condition {
	return meta.FindStatusCondition(addOn.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionDegraded)
}

// proposed are the fields of OCM's proposal.
var proposed = []string{"name", "type", "message"}

// plain reports whether the edge asks for no more than that the add-on of its
// name is available: any other field that it has means more.
func plain(edge *addonv1alpha1.AddonDependency) bool {
	encoded, err := json.Marshal(edge)
	var fields map[string]any
	if err != nil || json.Unmarshal(encoded, &fields) != nil {
		return false
	}
	for name := range maps.Keys(fields) {
		if !slices.Contains(proposed, name) {
			return false
		}
	}
	return true
}
