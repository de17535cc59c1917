package guard

import (
	"gomodules.xyz/jsonpatch/v2"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"open-cluster-management.io/interlock/pkg/compat/rule"
)

// Path is the path at which `addon-manager webhook` serves the guard.
const Path = "/guard-availability"

// NewWebhook returns the handler of the guard as a webhook.
func NewWebhook() *webhook.Admission {
	return rule.NewWebhook(func(stored, updated []byte, _ bool) ([]jsonpatch.Operation, error) { return Mutate(stored, updated) })
}
