package index

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/text"
)

// hookAnnotation is the annotation of Helm for objects that it creates at one moment only, such as before the deletion of a chart.
const hookAnnotation = "helm.sh/hook"

// workloads are the paths of lists with objects for managed clusters, by the kind that has them.
var workloads = map[string][]string{
	templateKind:             {"spec", "agentSpec", "workload", "manifests"},
	"ManifestWork":           {"spec", "workload", "manifests"},
	"ManifestWorkReplicaSet": {"spec", "manifestWorkTemplate", "workload", "manifests"},
}

// joined returns a path as messages have it.
func joined(path []string) string { return strings.Join(path, ".") }

// WithoutHooks returns the objects that are no Helm hooks, and a message for each hook. Without Helm, a hook is created with all other
// objects: a Job that deletes the data before the deletion of a chart would delete them at its installation. It also leaves out hooks among
// the objects that an AddOnTemplate deploys on managed clusters.
func WithoutHooks(objects []manifest.Object) (kept []manifest.Object, messages []string) {
	for _, object := range objects {
		if message, isHook := hookMessage(&object.Unstructured); isHook {
			messages = append(messages, fmt.Sprintf("left out: %s: %s", object.Path, message))
			continue
		}
		object.Unstructured = *object.DeepCopy()
		deployed := removeDeployedHooks(&object.Unstructured)
		if len(deployed) > 0 {
			object = object.WithoutLines() // the indexes of the other manifests differ from those in the file
		}
		for _, message := range deployed {
			messages = append(messages, fmt.Sprintf("left out: %s: %s %s: %s",
				object.Path, text.Name(object.GetKind()), text.Name(object.GetName()), message))
		}
		kept = append(kept, object)
	}
	return kept, messages
}

// hookMessage describes a hook. It returns false for another object.
func hookMessage(object *unstructured.Unstructured) (string, bool) {
	types, isHook := object.GetAnnotations()[hookAnnotation]
	return fmt.Sprintf("%s %s is a Helm hook (%s)%s",
		text.Name(object.GetKind()), text.Name(object.GetName()), text.Excerpt(types), hookAdvice(types)), isHook
}

// removeDeployedHooks removes hooks from the objects that an object deploys on managed clusters, and returns a message for each.
func removeDeployedHooks(object *unstructured.Unstructured) (messages []string) {
	path, ok := workloads[object.GetKind()]
	if !ok || !strings.HasSuffix(object.GroupVersionKind().Group, ".open-cluster-management.io") {
		return nil
	}
	last := len(path) - 1
	parent, _, err := unstructured.NestedFieldNoCopy(object.Object, path[:last]...)
	workload, isObject := parent.(map[string]any)
	if err != nil || !isObject {
		return nil // lint reports a wrong type
	}
	manifests, isList := workload[path[last]].([]any)
	if !isList {
		return nil
	}
	workload[path[last]] = slices.DeleteFunc(manifests, func(item any) bool {
		content, _ := item.(map[string]any)
		message, isHook := hookMessage(&unstructured.Unstructured{Object: content})
		if isHook {
			messages = append(messages, message)
		}
		return isHook
	})
	return messages
}

// hookAdvice returns what to do about a hook that the add-on may need, as the end of a message.
func hookAdvice(types string) string {
	has := func(hook string) bool {
		return slices.ContainsFunc(strings.Split(types, ","), func(name string) bool { return strings.TrimSpace(name) == hook })
	}
	switch {
	case has("crd-install"):
		return ": Helm 2 created it before all else. If the add-on needs it, move it to the folder crds of the chart, or remove " +
			"the annotation " + hookAnnotation
	case has("pre-install"):
		return ": Helm creates it before all else. If the add-on needs it, apply it before the release, or remove the " +
			"annotation " + hookAnnotation
	case has("post-install"):
		return ": Helm creates it after all else. If the add-on needs it, apply it after the release, or remove the annotation " + hookAnnotation
	default:
		return ": the add-on is installed without it"
	}
}
