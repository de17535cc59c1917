// Package guardpolicy evaluates the policies of the guard and of the gate rule in the test's own process, with the
// API server's own code: the CEL expressions in manifests/guard/policy.yaml and manifests/gate/policy.yaml. Tests
// compare them with the webhook's function, and use them in enumerations.
package guardpolicy

import (
	"context"
	"fmt"

	celgo "github.com/google/cel-go/cel"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	admissionregistrationv1beta1 "k8s.io/api/admissionregistration/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured/unstructuredscheme"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/mutating/patch"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/rule"
)

// Policy is a compiled policy.
type Policy struct {
	environment *plugincel.CompositionEnv
	matcher     matchconditions.Matcher
	patcher     patch.Patcher
	// DryRun is true if writes are dry runs.
	DryRun bool
}

// New compiles the MutatingAdmissionPolicy of a rule.
func New(r *rule.Rule) (*Policy, error) {
	objects, err := r.Policy("v1beta1")
	if err != nil {
		return nil, err
	}
	policy := &admissionregistrationv1beta1.MutatingAdmissionPolicy{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(objects[0].Object, policy, true); err != nil {
		return nil, err
	}
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, fmt.Errorf("create a CEL compiler: %w", err)
	}
	options := plugincel.OptionalVariableDeclarations{HasAuthorizer: true}
	for _, v := range policy.Spec.Variables {
		result := compiler.CompileAndStoreVariable(&variable{v.Name, v.Expression}, options, environment.StoredExpressions)
		if result.Error != nil {
			return nil, fmt.Errorf("compile variable %s: %w", v.Name, result.Error)
		}
	}
	var conditions []plugincel.ExpressionAccessor
	for _, condition := range policy.Spec.MatchConditions {
		conditions = append(conditions, &matchconditions.MatchCondition{Name: condition.Name, Expression: condition.Expression})
	}
	// An error has to be visible here, although the guard lets such a write pass.
	fail := admissionregistrationv1.Fail
	matcher := matchconditions.NewMatcher(compiler.CompileCondition(conditions, options, environment.StoredExpressions),
		&fail, "policy", "validate", policy.Name)
	options.HasPatchTypes = true
	if len(policy.Spec.Mutations) != 1 {
		return nil, fmt.Errorf("policy has %d mutations, want 1", len(policy.Spec.Mutations))
	}
	mutation := compiler.CompileMutatingEvaluator(&patch.JSONPatchCondition{Expression: policy.Spec.Mutations[0].JSONPatch.Expression},
		options, environment.StoredExpressions)
	return &Policy{environment: compiler.CompositionEnv, matcher: matcher, patcher: patch.NewJSONPatcher(mutation)}, nil
}

// Mutate returns the object that the API server stores when written replaces stored, and whether the policy matched.
// It changes neither object.
func (p *Policy) Mutate(ctx context.Context, stored, written *unstructured.Unstructured) (*unstructured.Unstructured, bool, error) {
	ctx = p.environment.CreateContext(ctx)
	kind := addonv1alpha1.GroupVersion.WithKind("ManagedClusterAddOn")
	resource := addonv1alpha1.GroupVersion.WithResource("managedclusteraddons")
	attributes := &admission.VersionedAttributes{
		Attributes: admission.NewAttributesRecord(written, stored, kind, "cluster1", "gateway", resource, "status",
			admission.Update, &metav1.UpdateOptions{}, p.DryRun, nil),
		VersionedObject: written.DeepCopy(), VersionedOldObject: stored.DeepCopy(), VersionedKind: kind,
	}
	match := p.matcher.Match(ctx, attributes, nil, nil)
	if match.Error != nil || !match.Matches {
		return written, false, match.Error
	}
	result, err := p.patcher.Patch(ctx, patch.Request{
		MatchedResource: resource, VersionedAttributes: attributes, ObjectInterfaces: untyped{},
	}, cel.RuntimeCELCostBudget)
	if err != nil {
		return nil, true, err
	}
	return result.(*unstructured.Unstructured), true, nil
}

type variable struct{ name, expression string }

func (v *variable) GetName() string            { return v.name }
func (v *variable) GetExpression() string      { return v.expression }
func (v *variable) ReturnTypes() []*celgo.Type { return []*celgo.Type{celgo.AnyType, celgo.DynType} }

// untyped implements the interfaces that the API server uses for custom resources.
type untyped struct{ admission.ObjectInterfaces }

func (untyped) GetObjectCreater() runtime.ObjectCreater {
	return unstructuredscheme.NewUnstructuredCreator()
}

func (untyped) GetObjectTyper() runtime.ObjectTyper {
	return unstructuredscheme.NewUnstructuredObjectTyper()
}
