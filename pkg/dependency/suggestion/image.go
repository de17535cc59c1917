package suggestion

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// workloadKinds run containers for as long as an add-on is installed, those first that add-ons usually have.
var workloadKinds = []string{"Deployment", "StatefulSet", "DaemonSet"}

// Image returns the image of the first container of the first workload in manifests. ok is false where there is none.
func Image(manifests []unstructured.Unstructured) (image string, ok bool) {
	for _, kind := range workloadKinds {
		for i := range manifests {
			gvk := manifests[i].GroupVersionKind()
			if gvk.Group != "apps" || gvk.Kind != kind {
				continue
			}
			containers, _, _ := unstructured.NestedSlice(manifests[i].Object, "spec", "template", "spec", "containers")
			at := slices.IndexFunc(containers, func(container any) bool { _, isObject := container.(map[string]any); return isObject })
			if at < 0 {
				continue
			}
			if image, _, _ := unstructured.NestedString(containers[at].(map[string]any), "image"); image != "" {
				return image, true
			}
		}
	}
	return "", false
}
