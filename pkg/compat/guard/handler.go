package guard

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Path is where `addon-manager webhook` serves the guard.
const Path = "/guard-availability"

// NewWebhook returns the handler of the guard as a webhook.
func NewWebhook() *webhook.Admission {
	return &webhook.Admission{Handler: admission.HandlerFunc(handle)}
}

// handle always allows the write. The failure policy does not help against an
// error response: that would reject the write.
func handle(ctx context.Context, request admission.Request) admission.Response {
	patch, err := Mutate(request.OldObject.Raw, request.Object.Raw)
	switch {
	case err != nil:
		log.FromContext(ctx).Error(err, "Cannot read the status of a write; the write passes unchanged",
			"addOn", request.Namespace+"/"+request.Name)
		return admission.Allowed("")
	case patch == nil:
		return admission.Allowed("")
	}
	return admission.Patched("", patch...)
}
