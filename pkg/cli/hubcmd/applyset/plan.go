package applyset

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Action is a change of an object.
type Action string

// The actions.
const (
	Create Action = "create"
	Change Action = "change"
	Keep   Action = "keep"
	Delete Action = "delete"
)

// Step is the action on an object.
type Step struct {
	Action Action
	Object string
}

// Cause is the reason for which an object cannot be applied.
type Cause string

// The causes.
const (
	// Foreign objects exist, and are not of this set.
	Foreign Cause = "Foreign"
	// Forbidden is a missing right.
	Forbidden Cause = "Forbidden"
	// Conflicting fields are of another writer.
	Conflicting Cause = "Conflicting"
	// Unknown kinds are not served by the hub.
	Unknown Cause = "Unknown"
	// Refused objects are invalid, or admission denies them.
	Refused Cause = "Refused"
)

// Problem is an object that cannot be applied.
type Problem struct {
	Cause  Cause
	Object string
	// Owner is the tool that a foreign object belongs to.
	Owner Owner
	// Message is the error of the hub.
	Message string
}

// Plan has the changes that an application would make. Dry runs have found them.
type Plan struct {
	Steps    []Step
	Problems []Problem
	// Untried has the objects that no dry run can try, because their namespace does not exist yet, or the policy that they bind.
	Untried []*unstructured.Unstructured
}

// Count returns the number of steps with an action.
func (p *Plan) Count(action Action) int {
	count := 0
	for _, step := range p.Steps {
		if step.Action == action {
			count++
		}
	}
	return count
}

// Try finds the changes that the application of objects would make. It writes nothing: each request is a dry run. namespaceExists is
// whether the namespace of the set exists. take accepts foreign objects, unless they are of Helm, and fields of other writers.
func (s *Set) Try(ctx context.Context, objects []*unstructured.Unstructured, namespaceExists, take bool) (*Plan, error) {
	plan := &Plan{}
	for _, object := range objects {
		if !namespaceExists && object.GetNamespace() != "" || plan.bindsNewPolicy(object) {
			plan.Untried = append(plan.Untried, object)
			plan.Steps = append(plan.Steps, Step{Create, describe(object)})
			continue
		}
		step, problem, err := s.try(ctx, object, take)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", describe(object), err)
		case problem != nil:
			plan.Problems = append(plan.Problems, *problem)
		default:
			plan.Steps = append(plan.Steps, step)
		}
	}
	return plan, nil
}

// bindsNewPolicy reports whether an object binds a policy that the plan creates. The API server reads the policy to find out which rights
// the user needs, and a dry run does not store it.
func (p *Plan) bindsNewPolicy(object *unstructured.Unstructured) bool {
	kind := object.GroupVersionKind()
	if kind.Group != "admissionregistration.k8s.io" || !strings.HasSuffix(kind.Kind, "PolicyBinding") {
		return false
	}
	policy, _, _ := unstructured.NestedString(object.Object, "spec", "policyName")
	return slices.Contains(p.Steps, Step{Create, strings.TrimSuffix(kind.Kind, "Binding") + " " + policy})
}

func (s *Set) try(ctx context.Context, object *unstructured.Unstructured, take bool) (Step, *Problem, error) {
	name := describe(object)
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GroupVersionKind())
	err := s.Client.Get(ctx, client.ObjectKeyFromObject(object), live)
	exists := err == nil
	if err != nil && !apierrors.IsNotFound(err) {
		problem, err := problemOf(name, err)
		return Step{}, problem, err
	}
	if exists && live.GetLabels()[partOfLabel] != s.ID() {
		if owner := OwnerOf(live); owner.IsHelm() || !take {
			return Step{}, &Problem{Cause: Foreign, Object: name, Owner: owner}, nil
		}
	}
	applied := s.member(object)
	options := []client.ApplyOption{client.FieldOwner(Tool), client.DryRunAll}
	if take {
		options = append(options, client.ForceOwnership)
	}
	// The result replaces the content of the configuration.
	if err := s.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), options...); err != nil {
		problem, err := problemOf(name, err)
		return Step{}, problem, err
	}
	switch {
	case !exists:
		return Step{Create, name}, nil, nil
	case isSame(live, applied):
		return Step{Keep, name}, nil, nil
	default:
		return Step{Change, name}, nil, nil
	}
}

// isSame reports whether two states of an object differ only in fields that the API server counts with each write.
func isSame(a, b *unstructured.Unstructured) bool {
	a, b = a.DeepCopy(), b.DeepCopy()
	for _, object := range []*unstructured.Unstructured{a, b} {
		object.SetManagedFields(nil)
		object.SetResourceVersion("")
		object.SetGeneration(0)
	}
	return equality.Semantic.DeepEqual(a.Object, b.Object)
}

// problemOf returns the problem that a request reveals, or the error if it reveals none.
func problemOf(object string, err error) (*Problem, error) {
	problem := &Problem{Object: object, Message: err.Error()}
	switch {
	case apierrors.IsForbidden(err):
		problem.Cause = Forbidden
	case apierrors.IsConflict(err):
		problem.Cause = Conflicting
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		problem.Cause = Unknown
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), isDenied(err):
		problem.Cause = Refused
	default:
		return nil, err
	}
	return problem, nil
}

// isDenied reports whether an admission webhook or policy has denied a request with a status of its own.
func isDenied(err error) bool {
	status := apierrors.APIStatus(nil)
	return errors.As(err, &status) && status.Status().Code >= 400 && status.Status().Code < 429
}
