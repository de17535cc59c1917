// Package admission reviews each ClusterManagementAddOn before it is created or
// updated. It denies what pkg/dependency/review denies. kubectl prints its warnings.
package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/review"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/rawjson"
	"open-cluster-management.io/interlock/pkg/text"
)

// Path is the path at which the handler is served.
const Path = "/validate-clustermanagementaddon"

// page is how many registered add-ons are listed at once. Each may have 1.5 MiB.
const page = 10

// Validator reviews ClusterManagementAddOns of both versions. If it fails, it allows
// the request, because evaluation reports the same problems later.
type Validator struct {
	// Lifecycle is whether an order that add-ons declare has an effect.
	Lifecycle bool

	// reader lists registered add-ons, and gets Placements. It is live.
	reader client.Reader
	// cache, if there is one, is read first, because any pod may send requests for reviews,
	// and a list of all add-ons is much work for an API server. Only a denial because of
	// what others declare needs a live list: they may just have changed.
	cache client.Reader

	reviewer review.Reviewer
	// live lets one request at a time list, however many request reviews. They share no
	// list: it may have begun before one of them.
	live *semaphore.Weighted
}

var _ admission.Handler = &Validator{}

// NewValidator returns a Validator of a live reader and a cache, which may be nil.
func NewValidator(reader, cache client.Reader) *Validator {
	return &Validator{reader: reader, cache: cache, live: semaphore.NewWeighted(1)}
}

// Handle implements admission.Handler.
func (v *Validator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Create && request.Operation != admissionv1.Update {
		return admission.Allowed("")
	}
	if why := tooMany(request.OldObject.Raw); why != "" { // then it may also be changed
		if why := tooMany(request.Object.Raw); why != "" {
			return unchecked(request.Name, errors.New(why))
		}
		request.Operation = admissionv1.Create
	}
	if why := tooMany(request.Object.Raw); why != "" {
		return admission.Denied(fmt.Sprintf("add-on '%s': %s", text.Name(request.Name), why))
	}
	if why := unreadable(request); why != "" {
		return admission.Denied(why)
	}
	addOn, err := decode(request.Object.Raw)
	if err != nil {
		return unchecked(request.Name, err)
	}
	var before *addonv1alpha1.ClusterManagementAddOn
	if request.Operation == admissionv1.Update {
		if before, err = decode(request.OldObject.Raw); err != nil {
			return unchecked(request.Name, err)
		}
	}
	response := v.review(ctx, addOn, before)
	if !response.Allowed {
		return response // it is not to be late
	}
	return response.WithWarnings(missingPlacements(ctx, v.reader, request)...).WithWarnings(v.orderedInVain(addOn, before)...).
		WithWarnings(v.removedInVain(ctx, addOn, before)...).WithWarnings(v.inVainBundle(request.Object.Raw, addOn)...).
		WithWarnings(v.unreportedVersions(ctx, addOn, before)...)
}

// review reviews a registration that replaces another one, or none.
func (v *Validator) review(ctx context.Context, addOn, before *addonv1alpha1.ClusterManagementAddOn) admission.Response {
	if registered, err := v.cached(ctx); err == nil {
		if result := v.reviewer.Review(addOn, before, registered); !result.ByOthers {
			return respond(result)
		}
	}
	if err := v.live.Acquire(ctx, 1); err != nil {
		return unchecked(addOn.Name, fmt.Errorf("wait for other reviews: %w", err))
	}
	defer v.live.Release(1)
	registered, err := fleet.Objects{Reader: v.reader, Page: page}.AddOns(ctx)
	if err != nil {
		return unchecked(addOn.Name, err)
	}
	return respond(v.reviewer.Review(addOn, before, registered))
}

// cached returns what the cache has, which may be older than what is stored.
func (v *Validator) cached(ctx context.Context) ([]addonv1alpha1.ClusterManagementAddOn, error) {
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

// unchecked allows a request that could not be reviewed. An error would deny it: the
// failure policy is only for a webhook that does not respond.
func unchecked(name string, err error) admission.Response {
	return admission.Allowed("").WithWarnings(text.Excerpt(text.OneLine(
		fmt.Sprintf("the dependencies of add-on '%s' were not checked: %v", text.Name(name), err))))
}

// decode reads the declaration, and nothing else. It has the same path in every version,
// so that the object need not be converted.
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

// decodePart decodes what is at a path, if anything is.
func decodePart(raw []byte, into any, path ...string) error {
	value := rawjson.Find(raw, path...)
	if value == nil {
		return nil
	}
	if err := json.Unmarshal(value, into); err != nil {
		return fmt.Errorf("read %s: %w", strings.Join(path, "."), err)
	}
	return nil
}
