package protection

import (
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// ocmNamespaces begin the names of the namespaces in which OCM's own components run.
const ocmNamespaces = "system:serviceaccounts:open-cluster-management"

// ofOCM reports whether a user is a service account of OCM's own components: they would retry for ever.
func ofOCM(user authenticationv1.UserInfo) bool {
	return slices.ContainsFunc(user.Groups, func(group string) bool { return strings.HasPrefix(group, ocmNamespaces) })
}
