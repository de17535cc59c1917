package addons

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func TestStripKeepsInputsOfDecisions(t *testing.T) {
	healthCheck := ocmv1alpha1.HealthCheck{Mode: ocmv1alpha1.HealthCheckModeCustomized}
	available, degraded := metav1.Condition{Type: "Available", Status: "True"}, metav1.Condition{Type: "Degraded", Status: "False"}
	got, err := strip(&addonv1alpha1.ManagedClusterAddOn{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "cluster1", Name: "proxy", UID: "1234", ResourceVersion: "7", Generation: 3,
			Labels:        map[string]string{"a": "b"},
			Annotations:   map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: "mgmt", "more": "of it"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "another-writer"}},
			Finalizers:    []string{"wait"},
		},
		Spec: ocmv1alpha1.ManagedClusterAddOnSpec{InstallNamespace: "in-spec", Configs: []ocmv1alpha1.AddOnConfig{{}}},
		Status: ocmv1alpha1.ManagedClusterAddOnStatus{
			Namespace: "in-status", HealthCheck: healthCheck, RelatedObjects: []ocmv1alpha1.ObjectReference{{}},
			Conditions: []metav1.Condition{{Type: "Progressing"}, degraded, available},
		},
	})
	want := &addonv1alpha1.ManagedClusterAddOn{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "cluster1", Name: "proxy", UID: "1234", ResourceVersion: "7",
			Annotations: map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: "mgmt"},
		},
		Spec: ocmv1alpha1.ManagedClusterAddOnSpec{InstallNamespace: "in-spec"},
		Status: ocmv1alpha1.ManagedClusterAddOnStatus{
			Namespace: "in-status", HealthCheck: healthCheck, Conditions: []metav1.Condition{available, degraded},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v (-want +got)\n%s", err, diff)
	}
}

func TestStripLetsTombstonesPass(t *testing.T) {
	tombstone := cache.DeletedFinalStateUnknown{Key: "cluster1/proxy"}
	if got, err := strip(tombstone); err != nil || got != any(tombstone) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestMapperNeedsNoDiscovery(t *testing.T) {
	mapper, err := Mapper(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for kind, resource := range map[schema.GroupKind]string{
		Kind.GroupKind(): "managedclusteraddons", {Group: "events.k8s.io", Kind: "Event"}: "events",
	} {
		mapping, err := mapper.RESTMapping(kind)
		if err != nil {
			t.Fatal(err)
		}
		if mapping.Resource.Resource != resource || mapping.Scope.Name() != meta.RESTScopeNameNamespace {
			t.Errorf("%s is %s, scope %s", kind, mapping.Resource, mapping.Scope.Name())
		}
	}
}
