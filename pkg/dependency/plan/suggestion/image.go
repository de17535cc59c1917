package suggestion

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// workloadKinds has the kinds that run containers for as long as an add-on is installed. The most usual kinds of add-ons come first.
var workloadKinds = []string{"Deployment", "StatefulSet", "DaemonSet"}

// Image returns the image of the first container of the first workload in manifests. It returns false if there is none.
func Image(manifests []unstructured.Unstructured) (string, bool) {
	for _, kind := range workloadKinds {
		for i := range manifests {
			gvk := manifests[i].GroupVersionKind()
			if gvk.Group != "apps" || gvk.Kind != kind {
				continue
			}
			containers, _, _ := unstructured.NestedSlice(manifests[i].Object, "spec", "template", "spec", "containers")
			first := slices.IndexFunc(containers, func(container any) bool { _, isObject := container.(map[string]any); return isObject })
			if first < 0 {
				continue
			}
			if image, _, _ := unstructured.NestedString(containers[first].(map[string]any), "image"); image != "" {
				return image, true
			}
		}
	}
	return "", false
}
