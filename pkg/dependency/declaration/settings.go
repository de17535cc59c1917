package declaration

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/expression"
	"open-cluster-management.io/interlock/pkg/text"
)

// Setting is a variable that an edge sets, compiled.
type Setting struct {
	Name string
	// Value is its value, where From is nil; else From is.
	Value string
	From  *expression.Text
	// Reads are the add-ons whose settings From reads.
	Reads []ReadAddOn
	// Required: without a value, the add-on is not installed.
	Required bool
	// Sealed: no other writer may change it.
	Sealed bool
}

// compileSettings reads what an edge sets, found at path.
func compileSettings(entry *addonv1alpha1.AddonDependency, path *field.Path) (compiled []Setting, errs field.ErrorList) {
	if entry.Settings == nil {
		return nil, nil
	}
	for i := range entry.Settings.Variables {
		variable := &entry.Settings.Variables[i]
		setting := Setting{
			Name: variable.Name, Value: variable.Value, Required: variable.Required, Sealed: entry.Settings.Policy == addonv1alpha1.SettingsSeal,
		}
		if variable.ValueFrom != "" {
			from, err := expression.CompileText(variable.ValueFrom)
			if err != nil {
				at := path.Child("variables").Index(i).Child("valueFrom")
				errs = append(errs, field.Invalid(at, text.Excerpt(variable.ValueFrom), err.Error()))
			}
			setting.From = &from
		}
		compiled = append(compiled, setting)
	}
	return compiled, errs
}
