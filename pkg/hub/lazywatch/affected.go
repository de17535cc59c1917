package lazywatch

import (
	"context"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/hub/policies"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

// AddOns enqueues the add-ons whose verdicts can change with an object that is watched lazily.
// Before the first catalog it does nothing, because every add-on will be evaluated then.
type AddOns struct {
	Fleet        hubcache.Reader
	Declarations *declarations.Store
	// Evaluate triggers the evaluation of add-ons.
	Evaluate *trigger.Trigger
	// Declare triggers the controller that builds the catalog.
	Declare *trigger.Trigger
	// Configured is called with each AddOnDeploymentConfig that has changed. It may be nil.
	Configured func(config types.NamespacedName)
	// Policies triggers the controller that writes the status of policies.
	Policies *trigger.Trigger
}

// policyChanged triggers a new catalog after a change of a policy. If only its status has changed, it triggers the
// controller that writes that status.
func (a AddOns) policyChanged(old, updated client.Object) {
	if old != nil && updated != nil {
		oldPolicy, newPolicy := old.(*dependencyv1alpha1.AddOnDependencyPolicy), updated.(*dependencyv1alpha1.AddOnDependencyPolicy)
		if apiequality.Semantic.DeepEqual(oldPolicy.Spec, newPolicy.Spec) && oldPolicy.UID == newPolicy.UID {
			a.Policies.EnqueueAfter(policies.Settled, policies.Key) // another writer's status is replaced
			return
		}
	}
	a.Declare.Enqueue(declarations.Key)
}

// rebuildCatalog triggers a new catalog.
func (a AddOns) rebuildCatalog(context.Context) error {
	a.Declare.Enqueue(declarations.Key)
	return nil
}

// templateChanged triggers a new catalog if an AddOnTemplate has or had a declaration.
func (a AddOns) templateChanged(template client.Object) {
	_, declares := template.GetAnnotations()[addonv1alpha1.TemplateDependenciesAnnotation]
	if current := a.Declarations.Current(); current != nil && !declares {
		_, _, declares = current.Template(template.GetName())
	}
	if declares {
		a.Declare.Enqueue(declarations.Key)
	}
}

// EnqueueUsers enqueues every add-on with an edge that uses one of the inputs.
func (a AddOns) EnqueueUsers(ctx context.Context, inputs input.Set) error {
	evaluator := a.Declarations.Current()
	if evaluator == nil {
		return nil
	}
	for _, addOn := range evaluator.WithInput(inputs) {
		keys, err := a.Fleet.Installed(ctx, addOn)
		if err != nil {
			return err
		}
		a.Evaluate.Enqueue(keys...)
	}
	return nil
}

// EnqueueConfigured enqueues the add-ons whose verdicts depend on an AddOnDeploymentConfig.
func (a AddOns) EnqueueConfigured(ctx context.Context, config types.NamespacedName) error {
	if a.Configured != nil {
		a.Configured(config)
	}
	evaluator := a.Declarations.Current()
	if evaluator == nil {
		return nil
	}
	referring, err := a.Fleet.Configured(ctx, config)
	if err != nil {
		return err
	}
	for _, addOn := range referring {
		for _, name := range evaluator.Readers(addOn.Name, input.Config) {
			a.Evaluate.Enqueue(types.NamespacedName{Namespace: addOn.Namespace, Name: name})
		}
	}
	return nil
}

// EnqueueTemplated enqueues the add-ons whose verdicts depend on the version of an AddOnTemplate.
func (a AddOns) EnqueueTemplated(ctx context.Context, template string) error {
	evaluator := a.Declarations.Current()
	if evaluator == nil {
		return nil
	}
	running, err := a.Fleet.Templated(ctx, template)
	if err != nil {
		return err
	}
	for _, addOn := range running {
		for _, dependent := range evaluator.Dependents(addOn.Name) {
			if evaluator.Inputs(dependent).Any(input.Versions) {
				a.Evaluate.Enqueue(types.NamespacedName{Namespace: addOn.Namespace, Name: dependent})
			}
		}
		for _, reader := range evaluator.Readers(addOn.Name, input.Version) {
			a.Evaluate.Enqueue(types.NamespacedName{Namespace: addOn.Namespace, Name: reader})
		}
	}
	return nil
}
