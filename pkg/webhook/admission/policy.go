package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/text"
	"open-cluster-management.io/interlock/pkg/text/rawjson"
)

// PolicyPath is the path for reviews of policies.
const PolicyPath = "/validate-addondependencypolicy"

// maxPolicyValues is more values than the schema of a policy accepts.
const maxPolicyValues = 50_000

// PolicyValidator reviews AddOnDependencyPolicies. It denies a policy that cannot be used, and warns of overrides without effect. If it
// fails, it allows the request, because the status of the policy reports the same problems later.
type PolicyValidator struct {
	Clock clock.PassiveClock
	// Registered reads the registered add-ons from a cache. Without it, overrides without effect are not found.
	Registered client.Reader
}

var _ admission.Handler = &PolicyValidator{}

// Handle implements admission.Handler.
func (v *PolicyValidator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Create && request.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	if count := rawjson.Count(request.Object.Raw); count > maxPolicyValues {
		return allowUncheckedPolicy(request.Name, fmt.Errorf("it has %d values; at most %d can be checked", count, maxPolicyValues))
	}
	written, err := decodePolicy(request.Object.Raw)
	if err != nil {
		// addon-manager could not read the stored policy either, nor any other policy in the same list.
		return admission.Denied(text.Excerpt(text.OneLine(fmt.Sprintf("policy '%s': %v", text.Name(request.Name), err))))
	}
	if request.Operation == admissionv1.Update {
		if stored, err := decodePolicy(request.OldObject.Raw); err == nil && apiequality.Semantic.DeepEqual(stored.Spec, written.Spec) {
			return admission.Allowed("") // a stored policy can still get another label or finalizer
		}
	}
	currentTime := v.Clock.Now()
	if problems := policy.Wrong(written, currentTime); len(problems) > 0 {
		return admission.Denied(fmt.Sprintf("policy '%s': %s", text.Name(request.Name), strings.Join(problems, "; ")))
	}
	return admission.Allowed("").WithWarnings(v.warn(ctx, written, currentTime)...)
}

func decodePolicy(raw []byte) (*dependencyv1alpha1.AddOnDependencyPolicy, error) {
	if !rawjson.IsObject(raw) {
		return nil, errors.New("read the object: there is none")
	}
	decoded := &dependencyv1alpha1.AddOnDependencyPolicy{}
	if err := json.Unmarshal(raw, decoded); err != nil {
		return nil, fmt.Errorf("read the object: %w", err)
	}
	return decoded, nil
}

// warn returns warnings of overrides without effect.
func (v *PolicyValidator) warn(ctx context.Context, written *dependencyv1alpha1.AddOnDependencyPolicy, currentTime time.Time) []string {
	var warnings []string
	for _, ended := range policy.Ended(written, currentTime) {
		warnings = append(warnings, text.Excerpt(ended))
	}
	if v.Registered == nil {
		return warnings
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	registered, err := fleet.Objects{Reader: v.Registered}.AddOns(ctx)
	if err != nil {
		return warnings // the status reports them later
	}
	registrations := catalog.New(registered)
	policy.EachOverride(written, func(i int, override *policy.Override) {
		spec := &written.Spec.Overrides[i]
		if reason := registrations.WithoutEffect(spec, override); reason != "" && !registrations.TemplatesDeclare(spec.AddOn) {
			warnings = append(warnings, text.Excerpt(fmt.Sprintf("%s has no effect: %s", policy.OverridesPath.Index(i), reason)))
		}
	})
	return warnings
}

// allowUncheckedPolicy allows a policy whose review failed, with a warning.
func allowUncheckedPolicy(name string, err error) admission.Response {
	return admission.Allowed("").WithWarnings(text.Excerpt(text.OneLine(
		fmt.Sprintf("policy '%s' was not checked: %v", text.Name(name), err))))
}
