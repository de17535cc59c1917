package stability

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/test/guardpolicy"
	"open-cluster-management.io/interlock/test/stability/stock"
)

const (
	required = availability.ReasonRequiredDependencyNotSatisfied
	grace    = availability.DefaultGracePeriod
)

// interlock makes the decisions of Interlock's components. Each decision is made once.
type interlock struct {
	// agent is availability.Decide, or a defect.
	agent func(availability.Input) availability.Decision
	// webhook is guard.Mutate, or a defect.
	webhook func(before, after *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// policy is the guard's other form, which has to give the same result. It is nil if there is none.
	policy *guardpolicy.Policy

	mutex        sync.Mutex
	decisions    map[agentKey]agentDecision
	guardResults map[guardKey]conditions
	degradations map[degradeKey]entry
}

// newInterlock returns Interlock with its real rules.
func newInterlock() (*interlock, error) {
	policy, err := guardpolicy.New(&guard.Rule)
	if err != nil {
		return nil, err
	}
	return withRules(availability.Decide, mutate, policy), nil
}

func withRules(
	agent func(availability.Input) availability.Decision,
	webhook func(before, after *unstructured.Unstructured) (*unstructured.Unstructured, error),
	policy *guardpolicy.Policy,
) *interlock {
	return &interlock{
		agent: agent, webhook: webhook, policy: policy,
		decisions: map[agentKey]agentDecision{}, guardResults: map[guardKey]conditions{}, degradations: map[degradeKey]entry{},
	}
}

// observation is addon-agent's copy of an add-on, and its memory of it.
type observation struct {
	available, degraded entry
	memory              memory
}

type agentKey struct {
	mode        ocmv1alpha1.HealthCheckMode
	lease, read leaseSeen
	observation observation
}

// agentDecision is the write of addon-agent, and its memory after that.
type agentDecision struct {
	write     bool
	available entry
	memory    memory
}

// decide returns the decision of addon-agent. Like its controller, it reads the lease before it reports that the
// lease stopped.
func (i *interlock) decide(mode ocmv1alpha1.HealthCheckMode, cached, actual leaseSeen, observation observation) agentDecision {
	key := agentKey{mode, cached, actual, observation}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if decision, ok := i.decisions[key]; ok {
		return decision
	}
	input := availability.Input{
		AddOn: stock.AddOn, Mode: mode, Available: observation.available.condition(), Degraded: observation.degraded.condition(),
		GracePeriod: grace, Now: observation.available.nextTime().Time,
	}
	input.Memory = observation.memory.inputAt(input.Now)
	input.Lease = leaseAt(cached, input.Now)
	decision := i.agent(input)
	if decision.Write && decision.Condition.Reason == availability.ReasonLeaseStopped {
		input.Lease = leaseAt(actual, input.Now)
		decision = i.agent(input)
	}
	result := agentDecision{write: decision.Write, memory: memoryAt(input.Now, decision.Memory)}
	if decision.Write {
		result.available = entryOf(&decision.Condition)
	}
	i.decisions[key] = result
	return result
}

func leaseAt(lease leaseSeen, now time.Time) availability.Lease {
	if lease == unobserved {
		return availability.Lease{State: availability.LeaseUnobserved}
	}
	stopped := now.Add(-grace)
	switch leases[lease] {
	case stock.LiveLease:
		return availability.Lease{State: availability.LeaseFound, RenewTime: &now}
	case stock.StoppedLease:
		return availability.Lease{State: availability.LeaseFound, RenewTime: &stopped}
	default:
		return availability.Lease{State: availability.LeaseNotFound}
	}
}

// memories returns every memory that addon-agent may have of the add-on.
func (i *interlock) memories() []memory {
	memories := []memory{0}
	for _, degraded := range failing() {
		decision := i.decide(ocmv1alpha1.HealthCheckModeLease, unobserved, unobserved, observation{degraded: degraded})
		if decision.memory != 0 {
			memories = append(memories, decision.memory)
		}
	}
	return memories
}

// guard returns the conditions that the API server stores when after replaces before.
func (i *interlock) guard(before, after conditions) conditions {
	key := guardKey{before, after}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if result, ok := i.guardResults[key]; ok {
		return result
	}
	stored, err := i.webhook(before.object(), after.object())
	if err != nil {
		panic(fmt.Sprintf("guard as webhook: %v", err))
	}
	if i.policy != nil {
		byPolicy, _, err := i.policy.Mutate(context.Background(), before.object(), after.object())
		if err != nil {
			panic(fmt.Sprintf("guard as policy: %v", err))
		}
		if !reflect.DeepEqual(stored.Object, byPolicy.Object) {
			panic(fmt.Sprintf("webhook stores %v\n, policy %v", stored.Object, byPolicy.Object))
		}
	}
	result := conditionsOf(stored)
	i.guardResults[key] = result
	return result
}

// mutate is the guard's webhook.
func mutate(before, after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	stored, err := before.MarshalJSON()
	if err != nil {
		return nil, err
	}
	written, err := after.MarshalJSON()
	if err != nil {
		return nil, err
	}
	operations, err := guard.Mutate(stored, written)
	if err != nil || operations == nil {
		return after, err
	}
	encoded, err := json.Marshal(operations)
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(encoded)
	if err != nil {
		return nil, err
	}
	if written, err = patch.Apply(written); err != nil {
		return nil, err
	}
	result := &unstructured.Unstructured{}
	return result, result.UnmarshalJSON(written)
}

// object returns an add-on with the conditions.
func (c conditions) object() *unstructured.Unstructured {
	addOn := &addonv1alpha1.ManagedClusterAddOn{
		TypeMeta:   metav1.TypeMeta{APIVersion: addonv1alpha1.GroupVersion.String(), Kind: "ManagedClusterAddOn"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: stock.AddOn},
	}
	for _, e := range []entry{c.degraded, c.available} {
		if condition := e.condition(); condition != nil {
			addOn.Status.Conditions = append(addOn.Status.Conditions, *condition)
		}
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(addOn)
	if err != nil {
		panic(err)
	}
	return &unstructured.Unstructured{Object: content}
}

func conditionsOf(object *unstructured.Unstructured) conditions {
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, addOn); err != nil {
		panic(err)
	}
	var result conditions
	for i := range addOn.Status.Conditions {
		switch condition := &addOn.Status.Conditions[i]; condition.Type {
		case availability.ConditionAvailable:
			result.available = entryOf(condition)
		case availability.ConditionDegraded:
			result.degraded = entryOf(condition)
		}
	}
	return result
}
