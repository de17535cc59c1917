package declaration

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/expression"
	"open-cluster-management.io/interlock/pkg/text"
)

// Setting is a compiled variable that an edge sets.
type Setting struct {
	Name string
	// Value is the value, unless From computes it.
	Value string
	From  *expression.Text
	// Reads are the add-ons whose settings From reads.
	Reads []ReadAddOn
	// Required is true if the add-on is not installed without a value.
	Required bool
	// Sealed is true if no other writer may change the variable.
	Sealed bool
}

// compileSettings compiles the settings of an entry.
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
				valuePath := path.Child("variables").Index(i).Child("valueFrom")
				errs = append(errs, field.Invalid(valuePath, text.Excerpt(variable.ValueFrom), err.Error()))
			}
			setting.From = &from
		}
		compiled = append(compiled, setting)
	}
	return compiled, errs
}
