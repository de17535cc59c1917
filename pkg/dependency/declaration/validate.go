package declaration

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/schema"
)

const (
	// maxExpressions and maxExpressionBytes limit the expressions of one add-on together, because they are compiled at
	// each change.
	maxExpressions     = 16
	maxExpressionBytes = 64 << 10
	// maxAnnotation is the limit of the API server for all annotations of an object.
	maxAnnotation = 256 << 10
	// MaxBytes limits a declaration by field, so that its record leaves room for other annotations.
	MaxBytes = 192 << 10
	// MaxValues limits the values of a declaration at any depth. 256 dependencies with all fields have fewer, apart
	// from lists in selectors and in alternatives.
	MaxValues = 20_000
	// MaxVariableValue is the limit of the schema for the value of a variable, in characters.
	MaxVariableValue = 1024
)

// validate checks a declaration before it is compiled, because compiling costs more. It applies the schema of the CRD,
// which an annotation has not passed, and the limits that the schema cannot state.
func (d declared) validate() field.ErrorList {
	if err := d.validateExpressions(); err != nil {
		return field.ErrorList{err}
	}
	errs := append(schema.Validate(d.written(), d.parent), validateNames(d.dependencies, d.path)...)
	if len(errs) == 0 && d.decodeErr != nil {
		return field.ErrorList{field.InternalError(d.parent, d.decodeErr)}
	}
	return errs
}

// validateExpressions counts expressions in settings and bytes, in addition to the rule of the schema.
func (d declared) validateExpressions() *field.Error {
	switch count, bytes := expressions(d.dependencies); {
	case count > maxExpressions:
		return field.Invalid(d.path, field.OmitValueType{}, fmt.Sprintf(
			"%d expressions are in when, config and settings; at most %d may be; when.clusterSelector has no such limit", count, maxExpressions))
	case bytes > maxExpressionBytes:
		return field.Invalid(d.path, field.OmitValueType{}, fmt.Sprintf(
			"all expressions together have %d bytes; at most %d may be used", bytes, maxExpressionBytes))
	}
	return nil
}

// validateNames finds blank names. The proposal's schema of a name allows them.
func validateNames(dependencies []addonv1alpha1.AddonDependency, path *field.Path) (errs field.ErrorList) {
	for i := range dependencies {
		if name := dependencies[i].Name; name != "" && strings.TrimSpace(name) == "" {
			errs = append(errs, field.Invalid(path.Index(i).Child("name"), name, "name the add-on that is depended on"))
		}
	}
	return errs
}
