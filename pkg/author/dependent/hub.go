package dependent

import (
	"context"
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
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

// evaluate reads the declaration of the add-on, and evaluates its Required dependencies that need no more than an available add-on.
// It returns the message of the unsatisfied ones, and whether there are other requirements, which need rights that the library does
// not have.
func evaluate(ctx context.Context, hub client.Reader, installed *addonv1beta1.ManagedClusterAddOn) (string, bool, error) {
	registered := &addonv1alpha1.ClusterManagementAddOn{}
	if err := hub.Get(ctx, client.ObjectKey{Name: installed.Name}, registered); err != nil {
		return "", false, fmt.Errorf("read ClusterManagementAddOn %s: %w", installed.Name, err)
	}
	parsed := declaration.Read(registered)
	if parsed.Invalid {
		return fmt.Sprintf("ClusterManagementAddOn %s: its dependencies cannot be used; its events have the reason", installed.Name), false, nil
	}
	required, incomplete := plainlyRequired(parsed.Dependencies)
	evaluator := evaluation.New(catalog.NewPartial([]addonv1alpha1.ClusterManagementAddOn{{
		ObjectMeta: metav1.ObjectMeta{Name: installed.Name}, Spec: addonv1alpha1.ClusterManagementAddOnSpec{Dependencies: required},
	}}))
	// With this policy, the ManagedCluster is not read.
	loader := fleet.Loader{Reader: addOnsOnly{objects: fleet.Objects{Reader: hub}}, Offline: evaluation.OfflineStrict}
	key := types.NamespacedName{Namespace: installed.Namespace, Name: installed.Name}
	state, err := loader.Load(ctx, evaluator, key, time.Time{})
	if err != nil {
		return "", false, err
	}
	findings := evaluator.Evaluate(installed.Name, state)
	return condition.Message(findings, condition.MaxMessage), incomplete || parsed.Requirements != nil, nil
}

// addOnsOnly reads add-ons. The embedded Reader is nil: with the fields of OCM's proposal, a dependency needs no other object.
type addOnsOnly struct {
	fleet.Reader
	objects fleet.Objects
}

// AddOn implements fleet.Reader.
func (r addOnsOnly) AddOn(ctx context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error) {
	return r.objects.AddOn(ctx, key)
}

// plainlyRequired returns the dependencies that block and need no more than an
// available add-on, and whether others block too.
func plainlyRequired(dependencies []addonv1alpha1.AddonDependency) ([]addonv1alpha1.AddonDependency, bool) {
	var plain []addonv1alpha1.AddonDependency
	incomplete := false
	for i := range dependencies {
		switch {
		case dependencies[i].Type == addonv1alpha1.DependencyTypeOptional:
		case proposed(&dependencies[i]):
			plain = append(plain, dependencies[i])
		default:
			incomplete = true
		}
	}
	return plain, incomplete
}

// proposed reports whether the dependency has only fields of OCM's proposal. Any
// other field needs more than an available add-on.
func proposed(dependency *addonv1alpha1.AddonDependency) bool {
	proposal := addonv1alpha1.AddonDependency{Name: dependency.Name, Type: dependency.Type, Message: dependency.Message}
	return reflect.DeepEqual(*dependency, proposal)
}
