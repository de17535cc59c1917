package declaration

import (
	"regexp"
	"slices"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/expression"
	"open-cluster-management.io/interlock/pkg/text"
)

// The limits of the schema, for variables those of OCM's AddOnDeploymentConfig.
const (
	maxVariables    = 16
	maxVariableName = 255
	// MaxVariableValue is how many characters the value of a variable may have.
	MaxVariableValue = 1024
)

var (
	variableForm = regexp.MustCompile(`^[a-zA-Z_][_a-zA-Z0-9]*$`)

	knownSettingsPolicies = []addonv1alpha1.SettingsPolicy{addonv1alpha1.SettingsDefault, addonv1alpha1.SettingsSeal}
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
	errs = validateSettings(entry, path)
	if len(entry.Settings.Variables) > maxVariables { // this is reported, and what is compiled stays bounded
		return nil, errs
	}
	for i := range entry.Settings.Variables {
		variable, at := &entry.Settings.Variables[i], path.Child("variables").Index(i)
		setting := Setting{
			Name: variable.Name, Value: variable.Value, Required: variable.Required, Sealed: entry.Settings.Policy == addonv1alpha1.SettingsSeal,
		}
		errs = append(errs, validateVariable(variable, at)...)
		if variable.ValueFrom != "" && utf8.RuneCountInString(variable.ValueFrom) <= maxExpression {
			from, err := expression.CompileText(variable.ValueFrom)
			if err != nil {
				errs = append(errs, field.Invalid(at.Child("valueFrom"), text.Excerpt(variable.ValueFrom), err.Error()))
			}
			setting.From = &from
		}
		compiled = append(compiled, setting)
	}
	return compiled, errs
}

// validateSettings checks what an edge with settings has besides, with the messages of the schema's rules.
func validateSettings(entry *addonv1alpha1.AddonDependency, path *field.Path) (errs field.ErrorList) {
	settings := entry.Settings
	if !Installs(entry) {
		errs = append(errs, field.Invalid(path, string(entry.Install), "settings needs install Auto: they are set only where Interlock installs the add-on"))
	}
	if entry.API != nil {
		errs = append(errs, field.Invalid(path, entry.API.Kind, "settings is for an add-on, not for an API"))
	}
	if settings.Policy != "" && !slices.Contains(knownSettingsPolicies, settings.Policy) {
		errs = append(errs, field.NotSupported(path.Child("policy"), settings.Policy, knownSettingsPolicies))
	}
	switch count := len(settings.Variables); {
	case count == 0:
		errs = append(errs, field.Required(path.Child("variables"), "name the variables that are set"))
	case count > maxVariables:
		errs = append(errs, field.TooMany(path.Child("variables"), count, maxVariables))
	}
	for i, variable := range settings.Variables {
		if slices.ContainsFunc(settings.Variables[:i], func(before addonv1alpha1.SettingVariable) bool { return before.Name == variable.Name }) {
			errs = append(errs, field.Duplicate(path.Child("variables").Index(i).Child("name"), text.Excerpt(variable.Name)))
		}
	}
	return errs
}

// validateVariable checks one variable by the rules of the schema.
func validateVariable(variable *addonv1alpha1.SettingVariable, path *field.Path) (errs field.ErrorList) {
	if len(variable.Name) > maxVariableName || !variableForm.MatchString(variable.Name) {
		errs = append(errs, field.Invalid(path.Child("name"), text.Excerpt(variable.Name), "must be a name of letters, digits and _, without a digit first"))
	}
	if (variable.Value != "") == (variable.ValueFrom != "") {
		errs = append(errs, field.Invalid(path, text.Excerpt(variable.Name), "a variable has one of value and valueFrom"))
	}
	errs = append(errs, tooLong(path.Child("value"), variable.Value, MaxVariableValue)...)
	return append(errs, tooLong(path.Child("valueFrom"), variable.ValueFrom, maxExpression)...)
}
