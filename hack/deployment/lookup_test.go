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

// annotations are the objects that the chart can look up on a hub. The value is the annotation of an object,
// by the object's kind, namespace and name.
type annotations map[string]string

func (a annotations) GetClientFor(_, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	return lookup{hub: a, kind: kind}, kind == "Lease", nil
}

type lookup struct {
	dynamic.NamespaceableResourceInterface
	hub             annotations
	kind, namespace string
}

func (l lookup) Namespace(namespace string) dynamic.ResourceInterface {
	l.namespace = namespace
	return l
}

func (l lookup) Get(_ context.Context, name string, _ metav1.GetOptions, _ ...string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	annotation, ok := l.hub[strings.Join([]string{l.kind, l.namespace, name}, "/")]
	if !ok {
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: l.kind}, name)
	}
	object.SetAnnotations(map[string]string{annotation: "true"})
	return object, nil
}

// addon-manager needs the right to change the CRD where it keeps, restores or removes a
// graft.
func TestTheRightToGraftStaysWhileTheHubNeedsIt(t *testing.T) {
	grafted := annotations{
		"CustomResourceDefinition//clustermanagementaddons.addon.open-cluster-management.io": "interlock.open-cluster-management.io/graft",
	}
	marked := annotations{"Lease/" + namespace + "/interlock-addon-manager": "interlock.open-cluster-management.io/graft-crds"}
	for name, test := range map[string]struct {
		hub annotations
		// unset, enabled and disabled are whether the right is granted without the value, with true and with false.
		unset, enabled, disabled bool
	}{
		"nothing":                  {annotations{}, false, true, false},
		"a graft":                  {grafted, true, true, true},
		"OCM's CRD and the mark":   {marked, true, true, false},
		"another's mark":           {annotations{"Lease/elsewhere/interlock-addon-manager": marked["x"]}, false, true, false},
		"a lease without the mark": {annotations{"Lease/" + namespace + "/interlock-addon-manager": "other"}, false, true, false},
	} {
		for values, want := range map[string]bool{
			"graftCRDs: null": test.unset, "graftCRDs: true": test.enabled, "graftCRDs: false": test.disabled,
		} {
			chart, renderValues, err := load(namespace, values)
			if err != nil {
				t.Fatal(err)
			}
			rendered, err := engine.RenderWithClientProvider(chart, renderValues, test.hub)
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
