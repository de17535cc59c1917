package v1alpha1

// GraftedSpecFields returns the names of the fields of a ClusterManagementAddOn's
// spec that Interlock adds to OCM's fields. They have the same name and schema in
// every version of the API, so that the graft and the conversion copy them unchanged.
func GraftedSpecFields() []string {
	return []string{"dependencies", "requirements", "provides", "ordering"}
}
