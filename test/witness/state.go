package witness

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const labelPrefix = "feature.open-cluster-management.io/addon-"

// Condition is the part of a condition that readers act on.
type Condition struct{ Status, Reason string }

func (c Condition) String() string {
	if c == (Condition{}) {
		return "absent"
	}
	return c.Status + "/" + c.Reason
}

// State is the part of a stored object that findings are about.
type State struct {
	// Version is the resourceVersion.
	Version uint64
	// Conditions are Available and Degraded of an add-on.
	Conditions map[string]Condition
	// Finding is the message of Degraded.
	Finding string
	// Labels are the labels of a ManagedCluster, by add-on.
	Labels map[string]string
	// Declared are the names of the dependencies that a registration declares, by field or by annotation.
	Declared map[string]bool
	// Deleting is true while the object waits for its finalizers.
	Deleting bool
	// Ended is true if the object waits for no finalizer any more. The write that leads to this state deletes the
	// object, and stores no version.
	Ended bool
	// Deleted is true if the object was removed from storage.
	Deleted bool

	// content is the digest of the content, without the fields that every write changes.
	content string
}

func stateOf(object *unstructured.Unstructured) (State, error) {
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return State{}, fmt.Errorf("resourceVersion %q of %s is not a number", object.GetResourceVersion(), object.GetName())
	}
	state := State{Version: version, Deleting: object.GetDeletionTimestamp() != nil, content: digest(object)}
	state.Ended = state.Deleting && len(object.GetFinalizers()) == 0
	switch object.GetKind() {
	case "ManagedClusterAddOn":
		state.Conditions, state.Finding = conditionsOf(object)
	case "ManagedCluster":
		state.Labels = labelsOf(object)
	case "ClusterManagementAddOn":
		state.Declared = declaredBy(object)
	}
	return state, nil
}

func conditionsOf(addOn *unstructured.Unstructured) (map[string]Condition, string) {
	conditions, finding := map[string]Condition{}, ""
	entries, _, _ := unstructured.NestedSlice(addOn.Object, "status", "conditions")
	for _, entry := range entries {
		fields, _ := entry.(map[string]any)
		kind, _ := fields["type"].(string)
		if kind != "Available" && kind != "Degraded" {
			continue
		}
		status, _ := fields["status"].(string)
		reason, _ := fields["reason"].(string)
		conditions[kind] = Condition{status, reason}
		if kind == "Degraded" {
			finding, _ = fields["message"].(string)
		}
	}
	return conditions, finding
}

func labelsOf(cluster *unstructured.Unstructured) map[string]string {
	labels := map[string]string{}
	for key, value := range cluster.GetLabels() {
		if addOn, ok := strings.CutPrefix(key, labelPrefix); ok {
			labels[addOn] = value
		}
	}
	return labels
}

// declaredBy joins both ways of declaring. A dependency is lost when neither has it.
func declaredBy(registration *unstructured.Unstructured) map[string]bool {
	dependencies := map[string]bool{}
	entries, _, _ := unstructured.NestedSlice(registration.Object, "spec", "dependencies")
	for _, entry := range entries {
		fields, _ := entry.(map[string]any)
		if name, ok := fields["name"].(string); ok {
			dependencies[name] = true
		}
	}
	type list []struct {
		Name string `json:"name"`
	}
	var annotated struct{ Dependencies list }
	text := []byte(registration.GetAnnotations()[addonv1alpha1.DependenciesAnnotation])
	if yaml.Unmarshal(text, &annotated) != nil && yaml.Unmarshal(text, &annotated.Dependencies) != nil {
		return dependencies
	}
	for _, entry := range annotated.Dependencies {
		dependencies[entry.Name] = true
	}
	return dependencies
}

// digest leaves out the fields that a write changes even if it has nothing new to store.
func digest(object *unstructured.Unstructured) string {
	stripped := object.DeepCopy()
	stripped.SetResourceVersion("")
	var owners []metav1.ManagedFieldsEntry
	if object.GetKind() == "ClusterManagementAddOn" { // Interlock gives up its ownership of their fields
		owners = stripped.GetManagedFields()
		for i := range owners {
			owners[i].Time = nil
		}
	}
	stripped.SetManagedFields(owners)
	if entries, ok, _ := unstructured.NestedSlice(stripped.Object, "status", "conditions"); ok {
		for _, entry := range entries {
			if fields, ok := entry.(map[string]any); ok {
				delete(fields, "lastTransitionTime")
			}
		}
		_ = unstructured.SetNestedSlice(stripped.Object, entries, "status", "conditions") // the field exists
	}
	content, err := json.Marshal(stripped.Object) // keys of maps are sorted
	if err != nil {
		return "" // unknown: never equal to another
	}
	return fmt.Sprintf("%x", sha256.Sum256(content))
}

// sameContent reports whether the write between the two states changed nothing.
func sameContent(before, after State) bool {
	return before.content != "" && before.content == after.content && before.Deleted == after.Deleted
}
