package doctor

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"open-cluster-management.io/interlock/pkg/cli/components"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/text"
)

func checkAddonManager(ctx context.Context, h *hub) []result {
	return h.checkDeployment(ctx, names.AddonManager, "Dependencies are not evaluated without it")
}

// checkDeployment checks that all replicas of a part are ready. The consequence is a sentence for the user if they are not.
func (h *hub) checkDeployment(ctx context.Context, name, consequence string) []result {
	describe := fmt.Sprintf("kubectl -n %s describe deployment %s", h.Namespace, name)
	object, err := h.Deployment(ctx, name)
	if err != nil {
		return unreadable("The Deployment "+name, err)
	}
	if object == nil {
		return []result{{
			failed, fmt.Sprintf("%s is not installed in %s. %s", name, h.Namespace, consequence),
			"docs/install.md, or name its namespace with --interlock-namespace",
		}}
	}
	desired, _, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	ready, _, _ := unstructured.NestedInt64(object.Object, "status", "readyReplicas")
	if ready == 0 || ready < desired {
		return []result{{failed, fmt.Sprintf("%s has %d of %d replicas ready. %s", name, ready, desired, consequence), describe}}
	}
	for _, condition := range components.MapsIn(object.Object, "status", "conditions") {
		if condition["type"] == "Progressing" && condition["status"] == "False" {
			return []result{{failed, fmt.Sprintf("The rollout of %s is stuck: %v", name, condition["message"]), describe}}
		}
	}
	return []result{{passed, fmt.Sprintf("%s runs with %s of %s", name, text.Count(int(ready), "replica"), components.ImageOf(object)), ""}}
}
