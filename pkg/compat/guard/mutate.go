package guard

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
)

// The conditions of the rule, their common reason, and the reason of
// Available while the cluster is lost.
const (
	TypeAvailable = ocmv1alpha1.ManagedClusterAddOnConditionAvailable
	TypeDegraded  = ocmv1alpha1.ManagedClusterAddOnConditionDegraded
	Reason        = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	ReasonLost    = availability.ReasonClusterLost
)

// entry is a condition with the original spelling of its times. raw has its unknown fields too.
type entry struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	Reason             string `json:"reason"`
	Message            string `json:"message"`
	LastTransitionTime string `json:"lastTransitionTime"`

	raw json.RawMessage
}

// Mutate returns the patch of a ManagedClusterAddOn that replaces the stored one, both as JSON in either
// version. While Degraded is True because a Required dependency fails, the patch sets Available
// to False with the same reason. There is no patch if Available already has that value, if the cluster
// is lost, or if Available is absent. The mutation of manifests/guard/policy.yaml does the same.
func Mutate(storedJSON, updatedJSON []byte) ([]jsonpatch.Operation, error) {
	updated, err := conditionsOf(updatedJSON)
	if err != nil {
		return nil, fmt.Errorf("object to be written: %w", err)
	}
	degraded := slices.IndexFunc(updated, func(e entry) bool {
		return e.Type == TypeDegraded && e.Status == string(metav1.ConditionTrue) && e.Reason == Reason
	})
	if degraded < 0 {
		return nil, nil
	}
	available := slices.IndexFunc(updated, func(e entry) bool {
		return e.Type == TypeAvailable && !e.follows(updated[degraded]) && !e.lost()
	})
	if available < 0 {
		return nil, nil
	}
	stored, err := conditionsOf(storedJSON)
	if err != nil {
		return nil, fmt.Errorf("stored object: %w", err)
	}
	value, err := unavailable(stored, updated[degraded], updated[available])
	if err != nil {
		return nil, err
	}
	return []jsonpatch.Operation{
		jsonpatch.NewOperation("replace", fmt.Sprintf("/status/conditions/%d", available), value),
	}, nil
}

// follows reports whether Available has the value that Degraded requires.
func (e entry) follows(degraded entry) bool {
	return e.Status == string(metav1.ConditionFalse) && e.Reason == Reason && e.Message == degraded.Message
}

// lost reports whether Available has the reason of a lost cluster.
func (e entry) lost() bool {
	return e.Status == string(metav1.ConditionUnknown) && e.Reason == ReasonLost
}

// unavailable returns the condition that replaces available. If the stored condition
// has the required value, it returns that one, so that the write changes nothing.
func unavailable(stored []entry, degraded, available entry) (any, error) {
	i := slices.IndexFunc(stored, func(e entry) bool { return e.Type == TypeAvailable && e.follows(degraded) })
	if i >= 0 {
		return stored[i].raw, nil
	}
	isFalse := func(e entry) bool { return e.Type == TypeAvailable && e.Status == string(metav1.ConditionFalse) }
	var since string
	if i = slices.IndexFunc(stored, isFalse); i >= 0 {
		since = stored[i].LastTransitionTime
	} else {
		var err error
		if since, err = later(degraded.LastTransitionTime, available.LastTransitionTime); err != nil {
			return nil, err
		}
	}
	return map[string]any{
		"type":               TypeAvailable,
		"status":             string(metav1.ConditionFalse),
		"reason":             Reason,
		"message":            degraded.Message,
		"lastTransitionTime": since,
	}, nil
}

// later returns the later of two times in its original spelling. It returns the second one if they are equal.
func later(first, second string) (string, error) {
	a, err := time.Parse(time.RFC3339, first)
	if err != nil {
		return "", fmt.Errorf("lastTransitionTime of %s: %w", TypeDegraded, err)
	}
	b, err := time.Parse(time.RFC3339, second)
	if err != nil {
		return "", fmt.Errorf("lastTransitionTime of %s: %w", TypeAvailable, err)
	}
	if a.After(b) {
		return first, nil
	}
	return second, nil
}

func conditionsOf(object []byte) ([]entry, error) {
	if len(object) == 0 {
		return nil, nil
	}
	var addOn struct {
		Status struct {
			Conditions []json.RawMessage `json:"conditions"`
		} `json:"status"`
	}
	if err := utiljson.Unmarshal(object, &addOn); err != nil {
		return nil, err
	}
	entries := make([]entry, len(addOn.Status.Conditions))
	for i, raw := range addOn.Status.Conditions {
		if err := utiljson.Unmarshal(raw, &entries[i]); err != nil {
			return nil, fmt.Errorf("status.conditions[%d]: %w", i, err)
		}
		entries[i].raw = raw
	}
	return entries, nil
}
