package declaration

import (
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/expression"
	"open-cluster-management.io/interlock/pkg/text"
)

// errAddOn is returned because addOn would have to be the dependency here, but it is the dependent in when.
var errAddOn = errors.New("addOn cannot be read here: config is that of the dependency, and cluster is known")

var errDependencies = errors.New("dependencies cannot be read here: config is that of the dependency")

// compileConfig compiles the condition on the settings of the edge's add-on. It returns nil without a condition.
func compileConfig(entry *addonv1alpha1.AddonDependency, path *field.Path) (*expression.Expression, field.ErrorList) {
	if entry.Config == nil {
		return nil, nil
	}
	written := entry.Config.Expression
	compiled, err := expression.Compile(written)
	switch {
	case err == nil && compiled.ReadsAddOn():
		err = errAddOn
	case err == nil && compiled.Dependencies().Any():
		err = errDependencies
	}
	if err != nil {
		return nil, field.ErrorList{field.Invalid(path.Child("expression"), text.Excerpt(written), err.Error())}
	}
	return compiled, nil
}
