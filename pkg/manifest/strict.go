package manifest

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	ocmaddonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	ocmaddonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	kjson "sigs.k8s.io/json"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/interlock/pkg/apis/addon/v1beta1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/review"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

const addOnKind = "ClusterManagementAddOn"

// ocm has the kinds of OCM's group for add-ons, in their versions.
var ocm = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(ocmaddonv1alpha1.Install(scheme))
	utilruntime.Must(ocmaddonv1beta1.Install(scheme))
	return scheme
}()

const templateKind = "AddOnTemplate"

// isTemplate reports whether an object is an AddOnTemplate.
func isTemplate(of metav1.TypeMeta) bool {
	return of.Kind == templateKind && ocm.Recognizes(of.GroupVersionKind())
}

// isPolicy reports whether an object is an AddOnDependencyPolicy.
func isPolicy(of metav1.TypeMeta) bool { return of.GroupVersionKind() == dependencyv1alpha1.PolicyKind }

// isJudged reports whether an object is a ClusterManagementAddOn, an AddOnTemplate or an AddOnDependencyPolicy, or
// probably meant to be one of the first two: of OCM's group for add-ons, and of no kind and version that OCM has.
func isJudged(of metav1.TypeMeta) bool {
	kind := of.GroupVersionKind()
	return kind.Kind == addOnKind || isTemplate(of) || isPolicy(of) || kind.Group == addonv1alpha1.GroupVersion.Group && !ocm.Recognizes(kind)
}

// judgeKind judges what isJudged accepts.
func judgeKind(of metav1.TypeMeta) []review.Judgement {
	if ocm.Recognizes(of.GroupVersionKind()) {
		return nil
	}
	at, value := "apiVersion", of.APIVersion
	if of.Kind != addOnKind {
		at, value = "kind", of.Kind
	}
	return []review.Judgement{{
		Rule: report.RuleUnknownKind, Wrong: true, Field: at,
		Message: fmt.Sprintf("%s: %q: OCM has no such one; a %s is of %s or %s", at, text.Excerpt(value), addOnKind,
			addonv1alpha1.GroupVersion, addonv1beta1.GroupVersion),
	}}
}

// judgeFields judges each field that the version of the object does not have or, with
// countTwice, that the object has twice. It decodes as an API server does with fieldValidation=Strict, into the types that the CRD
// is generated from.
func judgeFields(object []byte, version string, countTwice bool) (judged []review.Judgement, err error) {
	var into any = &addonv1alpha1.ClusterManagementAddOn{}
	if version == addonv1beta1.GroupVersion.Version {
		into = &addonv1beta1.ClusterManagementAddOn{}
	}
	strict := []kjson.StrictOption{kjson.DisallowUnknownFields}
	if countTwice {
		strict = append(strict, kjson.DisallowDuplicateFields)
	}
	unknown, err := kjson.UnmarshalStrict(object, into, strict...)
	for _, wrong := range unknown {
		field := ""
		if at := interface{ FieldPath() string }(nil); errors.As(wrong, &at) {
			field = at.FieldPath()
		}
		judged = append(judged, judgeField(field, wrong.Error()+": an API server refuses or drops it"))
	}
	return judged, err
}

func judgeField(field, message string) review.Judgement {
	return review.Judgement{Rule: report.RuleUnknownField, Wrong: true, Field: field, Message: message}
}

// judge judges what an API server refuses of a ClusterManagementAddOn in JSON. It returns an
// error if it cannot be decoded. countTwice is as for judgeFields.
func judge(object []byte, of metav1.TypeMeta, countTwice bool) ([]review.Judgement, error) {
	version := schema.FromAPIVersionAndKind(of.APIVersion, of.Kind).Version
	judged := judgeKind(of)
	fields, err := judgeFields(object, version, countTwice)
	if err != nil {
		return nil, err
	}
	values, err := judgeValues(object, version)
	return append(append(judged, fields...), values...), err
}
