package doctor

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/cli/components"
)

func checkWebhook(ctx context.Context, h *hub) []result {
	results := h.checkDeployment(ctx, webhookName, "Declarations are accepted unchecked without it")
	results = append(results, h.checkEndpoints(ctx)...)
	for _, configuration := range []struct{ kind, purpose string }{
		{"ValidatingWebhookConfiguration", "to check declarations"}, {"MutatingWebhookConfiguration", "to record declarations"},
	} {
		results = append(results, h.checkConfiguration(ctx, configuration.kind, configuration.purpose)...)
	}
	return results
}

// checkConfiguration checks that the API server is configured to call the webhook, and trusts it.
func (h *hub) checkConfiguration(ctx context.Context, kind, purpose string) []result {
	configuration, err := h.Object(ctx, admission, "v1", kind, client.ObjectKey{Name: webhookName})
	switch {
	case err != nil:
		return unreadable("The "+kind+" of the webhook", err)
	case configuration == nil:
		return []result{{
			failed, "The API server is not configured to call the webhook " + purpose, "helm upgrade, kubectl addon hub upgrade, or kubectl apply -k deploy/hub",
		}}
	case !hasCA(configuration.Object):
		return []result{{failed, "The API server does not trust the webhook " + purpose + ": its configuration has no CA", h.logs()}}
	default:
		return []result{{passed, "The API server trusts the webhook " + purpose, ""}}
	}
}

// hasCA reports whether the API server trusts all webhooks of a configuration.
func hasCA(configuration map[string]any) bool {
	hooks := components.MapsIn(configuration, "webhooks")
	return len(hooks) > 0 && !slices.ContainsFunc(hooks, func(hook map[string]any) bool {
		bundle, _, _ := unstructured.NestedString(hook, "clientConfig", "caBundle")
		return bundle == ""
	})
}

// checkEndpoints checks that the webhook's Service leads to pods.
func (h *hub) checkEndpoints(ctx context.Context) []result {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSliceList"})
	err := h.List(ctx, list, client.InNamespace(h.Namespace), client.MatchingLabels{"kubernetes.io/service-name": webhookName})
	if err != nil {
		return unreadable("What serves the webhook's Service", err)
	}
	ready := 0
	for i := range list.Items {
		for _, endpoint := range components.MapsIn(list.Items[i].Object, "endpoints") {
			// The API defines that an endpoint without a value is ready.
			if value, ok, _ := unstructured.NestedBool(endpoint, "conditions", "ready"); value || !ok {
				ready++
			}
		}
	}
	if ready == 0 {
		return []result{{
			failed, "No pod serves the webhook's Service, so the API server does not reach it",
			fmt.Sprintf("kubectl -n %s get endpointslices,pods,service/%s", h.Namespace, webhookName),
		}}
	}
	return []result{{passed, fmt.Sprintf("The webhook's Service has ready endpoints: %d", ready), ""}}
}
