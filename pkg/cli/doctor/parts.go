package doctor

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/names"
)

func addonManager(ctx context.Context, h *hub) []result {
	return h.deployment(ctx, names.AddonManager, "Dependencies are not evaluated without it")
}

// deployment checks that all replicas of a part are ready.
func (h *hub) deployment(ctx context.Context, name, without string) []result {
	look := fmt.Sprintf("kubectl -n %s describe deployment %s", h.namespace, name)
	object, err := h.get(ctx, "apps", "v1", "Deployment", client.ObjectKey{Namespace: h.namespace, Name: name})
	if err != nil {
		return unread("The Deployment "+name, err)
	}
	if object == nil {
		return []result{{
			unwell, fmt.Sprintf("%s is not installed in %s. %s", name, h.namespace, without),
			"docs/install.md, or name its namespace with --interlock-namespace",
		}}
	}
	wanted, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	ready, _, _ := unstructured.NestedInt64(object.Object, "status", "readyReplicas")
	if ready == 0 || ready < wanted {
		return []result{{unwell, fmt.Sprintf("%s has %d of %d replicas ready. %s", name, ready, wanted, without), look}}
	}
	for _, condition := range sliceOf(object.Object, "status", "conditions") {
		if condition["type"] == "Progressing" && condition["status"] == "False" {
			return []result{{unwell, fmt.Sprintf("The rollout of %s is stuck: %v", name, condition["message"]), look}}
		}
	}
	return []result{{well, fmt.Sprintf("%s runs with %d replicas of %s", name, ready, imageOf(object.Object)), ""}}
}

// imageOf is the image of the first container of a Deployment.
func imageOf(deployment map[string]any) string {
	for _, container := range sliceOf(deployment, "spec", "template", "spec", "containers") {
		image, _ := container["image"].(string)
		return image
	}
	return ""
}
