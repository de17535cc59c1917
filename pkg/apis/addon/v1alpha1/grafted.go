package v1alpha1

// GraftedSpecFields names the fields of a ClusterManagementAddOn's spec that
// Interlock adds to OCM's. They have the same name and schema in every version
// of the API: the CRDs take them, and conversion carries them, as they are.
func GraftedSpecFields() []string {
	return []string{"dependencies", "requirements", "provides", "ordering"}
}
