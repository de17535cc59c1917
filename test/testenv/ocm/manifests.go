package ocm

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// values returns the values that OCM's operators fill into their templates. All other parts of the templates are not
// enabled.
func values(webhookCA []byte) map[string]any {
	ca := base64.StdEncoding.EncodeToString(webhookCA)
	return map[string]any{
		"Labels":                         map[string]string{},
		"ClusterManagerName":             "cluster-manager",
		"ClusterManagerNamespace":        hubNamespace,
		"OperatorNamespace":              operatorNamespace,
		"AddonAPIServiceCABundle":        ca,
		"RegistrationAPIServiceCABundle": ca,
		"RegistrationWebhook":            map[string]any{"Port": 9443},
		"KlusterletName":                 "klusterlet",
		"KlusterletNamespace":            agentNamespace,
		"AgentNamespace":                 agentNamespace,
		"RegistrationServiceAccount":     registrationAgentAccount,
		"WorkServiceAccount":             workAgentAccount,
		"RegistrationDriver":             map[string]any{"AuthType": "csr"},
	}
}

// render reads the manifests whose paths below the folder match one of the patterns, in the order of the patterns.
// Each pattern must match a file.
func render(folder string, values map[string]any, patterns ...string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, pattern := range patterns {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return nil, err
		}
		if len(paths) == 0 {
			return nil, fmt.Errorf("OCM has no manifest %s in %s", pattern, folder)
		}
		for _, path := range paths {
			object, err := renderFile(path, values)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			objects = append(objects, object)
		}
	}
	return objects, nil
}

func renderFile(path string, values map[string]any) (*unstructured.Unstructured, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	parsed, err := template.New(filepath.Base(path)).Parse(string(content))
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := parsed.Execute(&text, values); err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text.Bytes(), &object.Object); err != nil {
		return nil, err
	}
	// For OCM's operator, a key that ends in a hyphen means that the annotation is removed.
	annotations := object.GetAnnotations()
	maps.DeleteFunc(annotations, func(key, _ string) bool { return strings.HasSuffix(key, "-") })
	object.SetAnnotations(annotations)
	return object, nil
}

// byURL replaces every reference to one of OCM's Services by the webhooks' address on the loopback interface, because
// there is no cluster network.
func byURL(objects []*unstructured.Unstructured, address string) {
	for _, object := range objects {
		switch object.GetKind() {
		case "CustomResourceDefinition":
			if config, ok, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "conversion", "webhook", "clientConfig"); ok {
				redirect(config, address)
			}
		case "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration":
			webhooks, _, _ := unstructured.NestedFieldNoCopy(object.Object, "webhooks")
			for _, webhook := range webhooks.([]any) {
				redirect(webhook.(map[string]any)["clientConfig"], address)
			}
		}
	}
}

func redirect(clientConfig any, address string) {
	config := clientConfig.(map[string]any)
	path, _, _ := unstructured.NestedString(config, "service", "path")
	delete(config, "service")
	config["url"] = "https://" + address + path
}

// ofKinds returns the objects of some kinds. If include is false, it returns the objects of all other kinds.
func ofKinds(objects []*unstructured.Unstructured, include bool, kinds ...string) []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(objects), func(object *unstructured.Unstructured) bool {
		return slices.Contains(kinds, object.GetKind()) != include
	})
}

// annotate sets OCM's version on CRDs, like its operator does.
func annotate(crds []*unstructured.Unstructured, version string) {
	for _, crd := range crds {
		annotations := crd.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[versionAnnotation] = strings.TrimPrefix(version, "v")
		crd.SetAnnotations(annotations)
	}
}
