package declarationtest_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1beta1 "open-cluster-management.io/interlock/pkg/apis/addon/v1beta1"
	"open-cluster-management.io/interlock/pkg/author/declarationtest"
)

// TestNewV1beta1 tests registrations in v1beta1. An add-on that uses addon-framework has its registration in Go, in this version.
func TestNewV1beta1(t *testing.T) {
	gateway := addonv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "gateway"}}
	gateway.Spec.Dependencies = []addonv1beta1.AddonDependency{
		{Name: "tunnel", Type: addonv1beta1.DependencyTypeRequired, Version: ">= 0.9"},
	}
	tunnel := addonv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "tunnel"}}
	hub, err := declarationtest.NewV1beta1([]addonv1beta1.ClusterManagementAddOn{gateway, tunnel})
	if err != nil {
		t.Fatal(err)
	}

	for version, want := range map[string]string{"0.9.3": "", "0.8.0": "Required addon 'tunnel'"} {
		cluster := declarationtest.Cluster{AddOns: []declarationtest.AddOn{{Name: "tunnel", Version: version}}}
		err := hub.Check("gateway", cluster)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("beside tunnel %s: %v, expected %q", version, err, want)
		}
	}
}
