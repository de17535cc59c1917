package dependency

// Uses says what of a managed cluster, of the hub or of the add-on itself an
// add-on's edges look at, beyond the add-ons that they are on: a change of
// anything else cannot change a verdict.
type Uses uint8

// What can be used.
const (
	// UsesLabels: the labels of the ManagedCluster.
	UsesLabels Uses = 1 << iota
	// UsesClaims: the cluster's claims.
	UsesClaims
	// UsesKubernetes: the cluster's Kubernetes version.
	UsesKubernetes
	// UsesOCM: the hub's OCM version.
	UsesOCM
	// UsesAddOn: labels and annotations of the add-on's own ManagedClusterAddOn.
	UsesAddOn
	// UsesConfig: the variables of the add-on's AddOnDeploymentConfigs.
	UsesConfig
	// UsesVersion: the versions of add-ons that it depends on.
	UsesVersion
	// UsesFacts: what the cluster's agent answers.
	UsesFacts
)

// Any reports whether one of the given is used.
func (u Uses) Any(of Uses) bool { return u&of != 0 }
