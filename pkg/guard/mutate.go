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
)

// What the rule speaks of: two conditions, and the reason that joins them.
const (
	TypeAvailable = ocmv1alpha1.ManagedClusterAddOnConditionAvailable
	TypeDegraded  = ocmv1alpha1.ManagedClusterAddOnConditionDegraded
	Reason        = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
)

// entry is a condition as it was written: times are kept as they are spelled,
// and raw keeps what this program has never heard of.
type entry struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	Reason             string `json:"reason"`
	Message            string `json:"message"`
	LastTransitionTime string `json:"lastTransitionTime"`

	raw json.RawMessage
}

// Mutate returns the change to after, the JSON of a ManagedClusterAddOn of
// either version that is about to take the place of before, that keeps it from
// being Available while a Required dependency fails; or nothing. It is what the
// mutation of manifests/guard/policy.yaml is, word for word.
func Mutate(before, after []byte) ([]jsonpatch.Operation, error) {
	written, err := conditionsOf(after)
	if err != nil {
		return nil, fmt.Errorf("object to be written: %w", err)
	}
	degraded := slices.IndexFunc(written, func(e entry) bool {
		return e.Type == TypeDegraded && e.Status == string(metav1.ConditionTrue) && e.Reason == Reason
	})
	available := slices.IndexFunc(written, func(e entry) bool {
		return e.Type == TypeAvailable && e.Status == string(metav1.ConditionTrue)
	})
	if degraded < 0 || available < 0 {
		return nil, nil
	}
	known, err := conditionsOf(before)
	if err != nil {
		return nil, fmt.Errorf("stored object: %w", err)
	}
	value, err := unavailable(known, written[degraded], written[available])
	if err != nil {
		return nil, err
	}
	return []jsonpatch.Operation{
		jsonpatch.NewOperation("replace", fmt.Sprintf("/status/conditions/%d", available), value),
	}, nil
}

// unavailable is the condition that takes the place of available: the stored
// one where that says what there is to say, so that the write changes nothing.
func unavailable(known []entry, degraded, available entry) (any, error) {
	isFalse := func(e entry) bool { return e.Type == TypeAvailable && e.Status == string(metav1.ConditionFalse) }
	held := slices.IndexFunc(known, func(e entry) bool { return isFalse(e) && e.Reason == Reason && e.Message == degraded.Message })
	if held >= 0 {
		return known[held].raw, nil
	}
	var since string
	if stored := slices.IndexFunc(known, isFalse); stored >= 0 {
		since = known[stored].LastTransitionTime
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

// later returns the later of two times, as it was spelled: the second, if they
// are the same.
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
