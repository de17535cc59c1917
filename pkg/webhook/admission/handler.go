// Package admission reviews each ClusterManagementAddOn before it is created or
// updated. It denies the registrations that pkg/dependency/plan/review denies. kubectl
// prints its warnings.
package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/text"
	"open-cluster-management.io/interlock/pkg/text/rawjson"
)

// Path is the path at which the handler is served.
const Path = "/validate-clustermanagementaddon"

// pageSize is how many registered add-ons are listed at once. Each may have 1.5 MiB.
const pageSize = 10

// Validator reviews ClusterManagementAddOns of both versions of the API. If it fails, it
// allows the request, because evaluation reports the same problems later.
type Validator struct {
	// Lifecycle is set if addon-manager runs with --lifecycle. Otherwise, an order that
	// add-ons declare has no effect.
	Lifecycle bool

	// reader lists registered add-ons, and gets Placements. It is live.
	reader client.Reader
	// cache is read first, if it is not nil: any pod may send requests for reviews, and a
	// list of all add-ons is much work for an API server. Only a denial because of other
	// add-ons needs a live list, because their declarations may just have changed.
	cache client.Reader

	reviewer review.Reviewer
	// liveLists lets one request at a time list live. Requests share no list, because it
	// may be older than one of them.
	liveLists *semaphore.Weighted
}

var _ admission.Handler = &Validator{}

// NewValidator returns a Validator with a live reader and a cache, which may be nil.
func NewValidator(reader, cache client.Reader) *Validator {
	return &Validator{reader: reader, cache: cache, liveLists: semaphore.NewWeighted(1)}
}

// Handle implements admission.Handler.
func (v *Validator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Create && request.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	if excess := findExcess(request.OldObject.Raw); excess != "" { // a stored object that is too large can still be changed
		if excess := findExcess(request.Object.Raw); excess != "" {
			return allowUnchecked(request.Name, errors.New(excess))
		}
		request.Operation = admissionv1.Create
	}
	if excess := findExcess(request.Object.Raw); excess != "" {
		return admission.Denied(fmt.Sprintf("add-on '%s': %s", text.Name(request.Name), excess))
	}
	if problem := findUnreadable(request); problem != "" {
		return admission.Denied(problem)
	}
	addOn, err := decode(request.Object.Raw)
	if err != nil {
		return allowUnchecked(request.Name, err)
	}
	var oldAddOn *addonv1alpha1.ClusterManagementAddOn
	if request.Operation == admissionv1.Update {
		if oldAddOn, err = decode(request.OldObject.Raw); err != nil {
			return allowUnchecked(request.Name, err)
		}
	}
	response := v.review(ctx, addOn, oldAddOn)
	if !response.Allowed {
		return response // warnings take time, and a late denial has no effect
	}
	return response.WithWarnings(v.warn(ctx, request, addOn, oldAddOn)...)
}

// warn returns warnings of declarations that have no effect, or not the intended one. oldAddOn is nil if the registration is created.
func (v *Validator) warn(
	ctx context.Context, request admission.Request, addOn, oldAddOn *addonv1alpha1.ClusterManagementAddOn,
) []string {
	return slices.Concat(
		missingPlacements(ctx, v.reader, request),
		v.warnIneffectiveOrdering(addOn, oldAddOn),
		warnUnorderedUpgrades(&request.AdmissionRequest, addOn, oldAddOn),
		v.warnIneffectiveRemoval(ctx, addOn, oldAddOn),
		v.warnIneffectiveBundle(request.Object.Raw, addOn),
		v.warnUnreportedVersions(ctx, addOn, oldAddOn),
	)
}

// review reviews a registration. oldAddOn is nil if the registration is created.
func (v *Validator) review(ctx context.Context, addOn, oldAddOn *addonv1alpha1.ClusterManagementAddOn) admission.Response {
	if registered, err := v.listCached(ctx); err == nil {
		if result := v.reviewer.Review(addOn, oldAddOn, registered); !result.ByOthers {
			return respond(result)
		}
	}
	if err := v.liveLists.Acquire(ctx, 1); err != nil {
		return allowUnchecked(addOn.Name, fmt.Errorf("wait for other reviews: %w", err))
	}
	defer v.liveLists.Release(1)
	registered, err := fleet.Objects{Reader: v.reader, Page: pageSize}.AddOns(ctx)
	if err != nil {
		return allowUnchecked(addOn.Name, err)
	}
	return respond(v.reviewer.Review(addOn, oldAddOn, registered))
}

// listCached returns the registered add-ons in the cache. They may be older than the stored ones.
func (v *Validator) listCached(ctx context.Context) ([]addonv1alpha1.ClusterManagementAddOn, error) {
	if v.cache == nil {
		return nil, errors.New("there is no cache")
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return fleet.Objects{Reader: v.cache}.AddOns(ctx)
}

func respond(review review.Result) admission.Response {
	if len(review.Denials) > 0 {
		return admission.Denied(strings.Join(review.Denials, "; ")).WithWarnings(review.Warnings...)
	}
	return admission.Allowed("").WithWarnings(review.Warnings...)
}

// allowUnchecked allows a request whose review failed. An error would deny it, because the
// failure policy only applies to a webhook that does not respond.
func allowUnchecked(name string, err error) admission.Response {
	return admission.Allowed("").WithWarnings(text.Excerpt(text.OneLine(
		fmt.Sprintf("the dependencies of add-on '%s' were not checked: %v", text.Name(name), err))))
}

// decode reads only the declaration. The declaration has the same path in every version of
// the API, so that the object need not be converted.
func decode(raw []byte) (*addonv1alpha1.ClusterManagementAddOn, error) {
	if !rawjson.IsObject(raw) {
		return nil, errors.New("read the object: there is none")
	}
	addOn := &addonv1alpha1.ClusterManagementAddOn{}
	errs := []error{
		decodePart(raw, &addOn.Name, "metadata", "name"),
		decodePart(raw, &addOn.Spec.Dependencies, "spec", "dependencies"),
		decodePart(raw, &addOn.Spec.Requirements, "spec", "requirements"),
		decodePart(raw, &addOn.Spec.Provides, "spec", "provides"),
		decodePart(raw, &addOn.Spec.Ordering, "spec", "ordering"),
	}
	for _, name := range []string{addonv1alpha1.DependenciesAnnotation, addonv1alpha1.RecordAnnotation} {
		var value *string
		errs = append(errs, decodePart(raw, &value, "metadata", "annotations", name))
		if value != nil {
			metav1.SetMetaDataAnnotation(&addOn.ObjectMeta, name, *value)
		}
	}
	return addOn, errors.Join(errs...)
}

// decodePart decodes the value at a path. Without a value, it leaves the target as it is.
func decodePart(raw []byte, target any, path ...string) error {
	value := rawjson.Find(raw, path...)
	if value == nil {
		return nil
	}
	if err := json.Unmarshal(value, target); err != nil {
		return fmt.Errorf("read %s: %w", strings.Join(path, "."), err)
	}
	return nil
}
