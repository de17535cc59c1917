package deployment

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/engine"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// annotations are what the chart can look up on a hub: those of each object, by its
// kind, namespace and name.
type annotations map[string]string

func (a annotations) GetClientFor(_, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	return lookup{on: a, kind: kind}, kind == "Lease", nil
}

type lookup struct {
	dynamic.NamespaceableResourceInterface
	on              annotations
	kind, namespace string
}

func (l lookup) Namespace(namespace string) dynamic.ResourceInterface {
	l.namespace = namespace
	return l
}

func (l lookup) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	found := &unstructured.Unstructured{}
	annotation, exists := l.on[strings.Join([]string{l.kind, l.namespace, name}, "/")]
	if !exists {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: l.kind}, name)
	}
	found.SetAnnotations(map[string]string{annotation: "true"})
	return found, nil
}

// The right to change the CRD stays where addon-manager without a flag keeps or
// restores a graft, and where it has to give one back.
func TestTheRightToGraftStaysWhileTheHubNeedsIt(t *testing.T) {
	grafted := annotations{
		"CustomResourceDefinition//clustermanagementaddons.addon.open-cluster-management.io": "interlock.open-cluster-management.io/graft",
	}
	marked := annotations{"Lease/" + namespace + "/interlock-addon-manager": "interlock.open-cluster-management.io/graft-crds"}
	for name, test := range map[string]struct {
		hub           annotations
		unset, on, no bool // what is granted without the value, with true and with false
	}{
		"nothing":                  {annotations{}, false, true, false},
		"a graft":                  {grafted, true, true, true},
		"OCM's CRD and the mark":   {marked, true, true, false},
		"another's mark":           {annotations{"Lease/elsewhere/interlock-addon-manager": marked["x"]}, false, true, false},
		"a lease without the mark": {annotations{"Lease/" + namespace + "/interlock-addon-manager": "other"}, false, true, false},
	} {
		for values, want := range map[string]bool{"graftCRDs: null": test.unset, "graftCRDs: true": test.on, "graftCRDs: false": test.no} {
			chart, all, err := load(namespace, values)
			if err != nil {
				t.Fatal(err)
			}
			rendered, err := engine.RenderWithClientProvider(chart, all, test.hub)
			if err != nil {
				t.Fatal(err)
			}
			release := objects{}
			for _, file := range slices.Sorted(maps.Keys(rendered)) {
				if strings.HasSuffix(file, "/rights.yaml") {
					for _, document := range documents(rendered[file]) {
						release.add(t, document)
					}
				}
			}
			if got := release["ClusterRoleBinding//interlock-addon-manager-graft"] != nil; got != want {
				t.Errorf("%s, %s: bound %t, want %t", name, values, got, want)
			}
		}
	}
}
