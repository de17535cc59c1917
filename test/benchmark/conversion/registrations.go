package main

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const crdName = "clustermanagementaddons.addon.open-cluster-management.io"

// registration is similar to the registrations of OCM's own add-ons, with dependencies.
const registration = `
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata:
  annotations: {addon.open-cluster-management.io/lifecycle: addon-manager}
  labels: {app: gateway}
spec:
  addOnMeta: {displayName: Gateway, description: Reaches managed clusters from the hub}
  supportedConfigs:
  - group: addon.open-cluster-management.io
    resource: addondeploymentconfigs
    defaultConfig: {namespace: open-cluster-management, name: gateway}
  - {group: proxy.open-cluster-management.io, resource: managedproxyconfigurations}
  dependencies:
  - {name: managed-serviceaccount, type: Required, message: Cluster credentials cannot be issued}
  - {name: cluster-proxy, type: Optional, message: Clusters behind a firewall are unreachable}
  installStrategy:
    type: Placements
    placements:
    - {name: global, namespace: open-cluster-management-global-set, rolloutStrategy: {type: All}}
`

// prepare registers the add-ons and lets the API server convert them. It
// returns a client of v1beta1.
func prepare(ctx context.Context, config *rest.Config, converter *converter) (dynamic.ResourceInterface, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	var addOn unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(registration), &addOn.Object); err != nil {
		return nil, err
	}
	resource := addonv1alpha1.GroupVersion.WithResource("clustermanagementaddons")
	stored := client.Resource(resource)
	for i := range objects {
		addOn.SetName(name(i))
		if _, err := stored.Create(ctx, &addOn, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
	}
	resource.Version = "v1beta1"
	return client.Resource(resource), convertBy(ctx, config, converter)
}

func name(i int) string { return fmt.Sprintf("gateway-%d", i) }

// convertBy points the CRD to the conversion.
func convertBy(ctx context.Context, config *rest.Config, converter *converter) error {
	client, err := apiextensionsclient.NewForConfig(config)
	if err != nil {
		return err
	}
	crd, err := client.CustomResourceDefinitions().Get(ctx, crdName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1"},
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: ptr.To(converter.server.URL), CABundle: converter.authority()},
		},
	}
	_, err = client.CustomResourceDefinitions().Update(ctx, crd, metav1.UpdateOptions{})
	return err
}

// read reads one object through v1beta1, and returns the number of conversions that were requested meanwhile.
func read(ctx context.Context, addOns dynamic.ResourceInterface, converter *converter, i int) (int64, error) {
	converter.reviews.Store(0)
	_, err := addOns.Get(ctx, name(i), metav1.GetOptions{})
	return converter.reviews.Load(), err
}
