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
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

const addOnKind = "ClusterManagementAddOn"

// ocm has the kinds in OCM's API group for add-ons, in all versions.
var ocm = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(ocmaddonv1alpha1.Install(scheme))
	utilruntime.Must(ocmaddonv1beta1.Install(scheme))
	return scheme
}()

const templateKind = "AddOnTemplate"

// isTemplate reports whether an object is an AddOnTemplate.
func isTemplate(typeMeta metav1.TypeMeta) bool {
	return typeMeta.Kind == templateKind && ocm.Recognizes(typeMeta.GroupVersionKind())
}

// isPolicy reports whether an object is an AddOnDependencyPolicy.
func isPolicy(typeMeta metav1.TypeMeta) bool {
	return typeMeta.GroupVersionKind() == dependencyv1alpha1.PolicyKind
}

// isJudged reports whether an object is a ClusterManagementAddOn, an AddOnTemplate or an AddOnDependencyPolicy. It also accepts
// unknown kinds and versions of OCM's API group for add-ons: these probably are mistakes for the first two kinds.
func isJudged(typeMeta metav1.TypeMeta) bool {
	kind := typeMeta.GroupVersionKind()
	unknown := kind.Group == addonv1alpha1.GroupVersion.Group && !ocm.Recognizes(kind)
	return kind.Kind == addOnKind || isTemplate(typeMeta) || isPolicy(typeMeta) || unknown
}

// judgeKind judges the kind and the version of an object that isJudged accepts.
func judgeKind(typeMeta metav1.TypeMeta) []review.Judgement {
	if ocm.Recognizes(typeMeta.GroupVersionKind()) {
		return nil
	}
	field, value := "apiVersion", typeMeta.APIVersion
	if typeMeta.Kind != addOnKind {
		field, value = "kind", typeMeta.Kind
	}
	return []review.Judgement{{
		Rule: report.RuleUnknownKind, Wrong: true, Field: field,
		Message: fmt.Sprintf("%s: %q: OCM has no such one; a %s is of %s or %s", field, text.Excerpt(value), addOnKind,
			addonv1alpha1.GroupVersion, addonv1beta1.GroupVersion),
	}}
}

// judgeFields judges unknown fields of a version, and duplicate fields if findDuplicates is true. Like an API server with
// fieldValidation=Strict, it decodes into the types that the CRD is generated from.
func judgeFields(object []byte, version string, findDuplicates bool) ([]review.Judgement, error) {
	var decoded any = &addonv1alpha1.ClusterManagementAddOn{}
	if version == addonv1beta1.GroupVersion.Version {
		decoded = &addonv1beta1.ClusterManagementAddOn{}
	}
	options := []kjson.StrictOption{kjson.DisallowUnknownFields}
	if findDuplicates {
		options = append(options, kjson.DisallowDuplicateFields)
	}
	strictErrs, err := kjson.UnmarshalStrict(object, decoded, options...)
	var judged []review.Judgement
	for _, strictErr := range strictErrs {
		field := ""
		if fieldErr := interface{ FieldPath() string }(nil); errors.As(strictErr, &fieldErr) {
			field = fieldErr.FieldPath()
		}
		judged = append(judged, judgeField(field, strictErr.Error()+": an API server refuses or drops it"))
	}
	return judged, err
}

func judgeField(field, message string) review.Judgement {
	return review.Judgement{Rule: report.RuleUnknownField, Wrong: true, Field: field, Message: message}
}

// judge judges a ClusterManagementAddOn in JSON like an API server. It returns an error if the object cannot be decoded.
// Duplicate fields are judged only if findDuplicates is true.
func judge(object []byte, typeMeta metav1.TypeMeta, findDuplicates bool) ([]review.Judgement, error) {
	version := schema.FromAPIVersionAndKind(typeMeta.APIVersion, typeMeta.Kind).Version
	judged := judgeKind(typeMeta)
	fields, err := judgeFields(object, version, findDuplicates)
	if err != nil {
		return nil, err
	}
	values, err := judgeValues(object, version)
	return append(append(judged, fields...), values...), err
}
