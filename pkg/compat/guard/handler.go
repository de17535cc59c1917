package guard

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Path is where the webhook is served.
const Path = "/guard-availability"

// NewWebhook returns the guard as a webhook; it is an http.Handler too.
func NewWebhook() *webhook.Admission {
	return &webhook.Admission{Handler: admission.HandlerFunc(handle)}
}

// handle always allows. A failure policy is for a webhook that does not answer:
// one that answers with an error refuses the write.
func handle(ctx context.Context, request admission.Request) admission.Response {
	patch, err := Mutate(request.OldObject.Raw, request.Object.Raw)
	switch {
	case err != nil:
		log.FromContext(ctx).Error(err, "Could not read a status that is written; it passes unguarded",
			"addOn", request.Namespace+"/"+request.Name)
		return admission.Allowed("")
	case patch == nil:
		return admission.Allowed("")
	}
	return admission.Patched("", patch...)
}
