package rule

import (
	"context"

	"gomodules.xyz/jsonpatch/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Mutate returns the patch of an updated object that replaces the stored one. A nil patch leaves it unchanged.
type Mutate func(stored, updated []byte, dryRun bool) ([]jsonpatch.Operation, error)

// NewWebhook returns the handler of a rule as a webhook. It always allows the write, even after an error: the failure policy does not
// apply to error responses, so they would reject the write.
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
