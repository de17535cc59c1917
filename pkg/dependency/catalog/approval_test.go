package catalog_test

import (
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
)

func TestApprovals(t *testing.T) {
	for value, want := range map[string]int{"": 0, "12": 12, "many": 0, "-1": -1} {
		addOn := &addonv1alpha1.ClusterManagementAddOn{}
		addOn.Annotations = map[string]string{addonv1alpha1.ApproveInstallAnnotation: value, addonv1alpha1.ApproveRemovalAnnotation: "7"}
		if got := catalog.InstallOf(addOn); got.Approved != want || got.RemovalApproved != 7 {
			t.Errorf("%q: %+v", value, got)
		}
	}
	for value, want := range map[string]string{"": "", "12": "", "many": "many", "1 000": "1 000", "5%": "5%"} {
		addOn := &addonv1alpha1.ClusterManagementAddOn{}
		addOn.Annotations = map[string]string{addonv1alpha1.ApproveInstallAnnotation: value}
		if got := catalog.InstallOf(addOn); got.WrongApproval != want || got.WrongRemovalApproval != "" {
			t.Errorf("%q: %+v", value, got)
		}
		addOn.Annotations = map[string]string{addonv1alpha1.ApproveRemovalAnnotation: value}
		if got := catalog.InstallOf(addOn); got.WrongRemovalApproval != want || got.WrongApproval != "" {
			t.Errorf("removal, %q: %+v", value, got)
		}
	}
}
