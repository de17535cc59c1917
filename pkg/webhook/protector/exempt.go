package protector

import (
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// ocmGroupPrefix begins the names of the groups of service accounts in the namespaces of OCM's own components.
const ocmGroupPrefix = "system:serviceaccounts:open-cluster-management"

// fromOCM reports whether a user is a service account of OCM's own components. They are never refused, because they would retry for
// ever. The match conditions in deploy/hub/webhook-configuration.yaml exempt the controllers of Kubernetes, so that they do not even call
// the webhook.
func fromOCM(user authenticationv1.UserInfo) bool {
	return slices.ContainsFunc(user.Groups, func(group string) bool { return strings.HasPrefix(group, ocmGroupPrefix) })
}
