package doctor

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func webhook(ctx context.Context, h *hub) []result {
	results := h.deployment(ctx, webhookName, "Declarations are accepted unchecked without it")
	results = append(results, h.reachable(ctx)...)
	for _, called := range []struct{ kind, does string }{
		{"ValidatingWebhookConfiguration", "to check declarations"}, {"MutatingWebhookConfiguration", "to record declarations"},
	} {
		results = append(results, h.trusted(ctx, called.kind, called.does)...)
	}
	return results
}

// trusted checks that the API server is configured to call the webhook for something.
func (h *hub) trusted(ctx context.Context, kind, does string) []result {
	configuration, err := h.get(ctx, admission, "v1", kind, client.ObjectKey{Name: webhookName})
	switch {
	case err != nil:
		return unread("The "+kind+" of the webhook", err)
	case configuration == nil:
		return []result{{unwell, "The API server is not configured to call the webhook " + does, "helm upgrade, or kubectl apply -k deploy/hub"}}
	case !hasCA(configuration.Object):
		return []result{{unwell, "The API server does not trust the webhook " + does + ": its configuration has no CA", h.logs()}}
	default:
		return []result{{well, "The API server trusts the webhook " + does, ""}}
	}
}

// hasCA reports whether the API server trusts all webhooks of a configuration.
func hasCA(configuration map[string]any) bool {
	hooks := sliceOf(configuration, "webhooks")
	return len(hooks) > 0 && !slices.ContainsFunc(hooks, func(hook map[string]any) bool {
		bundle, _, _ := unstructured.NestedString(hook, "clientConfig", "caBundle")
		return bundle == ""
	})
}

// reachable checks that the webhook's Service leads to pods.
func (h *hub) reachable(ctx context.Context) []result {
	slices := &unstructured.UnstructuredList{}
	slices.SetGroupVersionKind(schema.GroupVersionKind{Group: "discovery.k8s.io", Version: "v1", Kind: "EndpointSliceList"})
	err := h.List(ctx, slices, client.InNamespace(h.namespace), client.MatchingLabels{"kubernetes.io/service-name": webhookName})
	if err != nil {
		return unread("What serves the webhook's Service", err)
	}
	ready := 0
	for i := range slices.Items {
		for _, endpoint := range sliceOf(slices.Items[i].Object, "endpoints") {
			// Without a value, it is ready: the API says so.
			if is, given, _ := unstructured.NestedBool(endpoint, "conditions", "ready"); is || !given {
				ready++
			}
		}
	}
	if ready == 0 {
		return []result{{
			unwell, "No pod serves the webhook's Service, so the API server does not reach it",
			fmt.Sprintf("kubectl -n %s get endpointslices,pods,service/%s", h.namespace, webhookName),
		}}
	}
	return []result{{well, fmt.Sprintf("The webhook's Service has ready endpoints: %d", ready), ""}}
}
