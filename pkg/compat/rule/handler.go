package rule

import (
	"context"

	"gomodules.xyz/jsonpatch/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Mutate returns the patch of a status that is to be stored; nil: it stays as it is.
type Mutate func(before, after []byte, dryRun bool) ([]jsonpatch.Operation, error)

// NewWebhook returns the handler of a rule as a webhook. It always allows the write. The failure policy does not help
// against an error response: that would reject the write.
func NewWebhook(mutate Mutate) *webhook.Admission {
	return &webhook.Admission{Handler: admission.HandlerFunc(func(ctx context.Context, request admission.Request) admission.Response {
		patch, err := mutate(request.OldObject.Raw, request.Object.Raw, request.DryRun != nil && *request.DryRun)
		switch {
		case err != nil:
			log.FromContext(ctx).Error(err, "Cannot read the status of a write; the write passes unchanged",
				"addOn", request.Namespace+"/"+request.Name)
			return admission.Allowed("")
		case patch == nil:
			return admission.Allowed("")
		}
		return admission.Patched("", patch...)
	})}
}
