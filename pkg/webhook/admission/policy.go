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
	"open-cluster-management.io/interlock/pkg/dependency/policy"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/rawjson"
	"open-cluster-management.io/interlock/pkg/text"
)

// PolicyPath is the path at which policies are reviewed.
const PolicyPath = "/validate-addondependencypolicy"

// maxPolicyValues is more than the schema of a policy accepts of values that matter.
const maxPolicyValues = 50_000

// PolicyValidator reviews AddOnDependencyPolicies: it denies what could not be used, and warns of what
// would have no effect. If it fails, it allows the request: the status of the policy says the same later.
type PolicyValidator struct {
	Clock clock.PassiveClock
	// Registered reads the registered add-ons from a cache; nil: what is declared is not known.
	Registered client.Reader
}

var _ admission.Handler = &PolicyValidator{}

// Handle implements admission.Handler.
func (v *PolicyValidator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Create && request.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	if count := rawjson.Count(request.Object.Raw); count > maxPolicyValues {
		return notReviewed(request.Name, fmt.Errorf("it has %d values; at most %d can be checked", count, maxPolicyValues))
	}
	is, err := decodePolicy(request.Object.Raw)
	if err != nil {
		// Once it is stored, addon-manager could not read it either, and no other policy with it.
		return admission.Denied(text.Excerpt(text.OneLine(fmt.Sprintf("policy '%s': %v", text.Name(request.Name), err))))
	}
	if request.Operation == admissionv1.Update {
		if was, err := decodePolicy(request.OldObject.Raw); err == nil && apiequality.Semantic.DeepEqual(was.Spec, is.Spec) {
			return admission.Allowed("") // what is stored can still get another label or finalizer
		}
	}
	now := v.Clock.Now()
	if wrong := policy.Wrong(is, now); len(wrong) > 0 {
		return admission.Denied(fmt.Sprintf("policy '%s': %s", text.Name(request.Name), strings.Join(wrong, "; ")))
	}
	return admission.Allowed("").WithWarnings(v.warnings(ctx, is, now)...)
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

// warnings tell of overrides without effect.
func (v *PolicyValidator) warnings(ctx context.Context, of *dependencyv1alpha1.AddOnDependencyPolicy, now time.Time) (warnings []string) {
	for _, ended := range policy.Ended(of, now) {
		warnings = append(warnings, text.Excerpt(ended))
	}
	if v.Registered == nil {
		return warnings
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	registered, err := fleet.Objects{Reader: v.Registered}.AddOns(ctx)
	if err != nil {
		return warnings // the status tells later
	}
	declared := catalog.New(registered)
	policy.Each(of, func(i int, override *policy.Override) {
		stated := &of.Spec.Overrides[i]
		if because := declared.WithoutEffect(stated, override); because != "" && !declared.TemplatesDeclare(stated.AddOn) {
			warnings = append(warnings, text.Excerpt(fmt.Sprintf("%s has no effect: %s", policy.OverridesPath.Index(i), because)))
		}
	})
	return warnings
}

func notReviewed(name string, err error) admission.Response {
	return admission.Allowed("").WithWarnings(text.Excerpt(text.OneLine(fmt.Sprintf("policy '%s' was not checked: %v", text.Name(name), err))))
}
