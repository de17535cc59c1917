package evaluation

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/expression"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/text"
)

// requestSettings sets the settings that an edge requests for its add-on. It does not change the verdict.
func requestSettings(addOn string, g *grounds, f *Finding) {
	if g.edge == nil || len(g.edge.Settings) == 0 {
		return
	}
	requested := make([]settings.Variable, 0, len(g.edge.Settings))
	for i := range g.edge.Settings {
		setting := &g.edge.Settings[i]
		variable := settings.Variable{
			Name:     setting.Name,
			Value:    setting.Value,
			Sealed:   setting.Sealed,
			Required: setting.Required,
		}
		if setting.From != nil {
			value, err := valueOf(addOn, g, setting)
			if errors.Is(err, errUnread) {
				f.detail().SettingsUnread = true
			}
			variable.Value = value
			if err != nil {
				variable.Problem = text.Cut(text.OneLine(err.Error()), maxReason)
			}
		}
		requested = append(requested, variable)
	}
	f.detail().Settings = requested
	f.Detail.SettingOutcome = g.cluster.Settings[g.edge.AddOn]
	f.Detail.Unexplained = f.Detail.Unexplained || f.Detail.SettingOutcome.Obstacle == settings.Undecided
	if lacking := settings.Lacking(requested); lacking != "" && f.Verdict == NotInstalled {
		if f.Detail.Installs { // Interlock waits for the value
			f.Detail.Because, f.Detail.Installs = "", false
		}
		f.stop(lacking)
	}
	if g.catalog.Install(g.edge.AddOn).Placed && (f.Verdict == NotInstalled || f.Verdict == SettingMismatch) {
		f.explain("settings have no effect, because Placements install it")
	}
}

var errNoValue = errors.New("has no value: valueFrom has none on this cluster")

// valueOf evaluates the expression of a setting.
func valueOf(addOn string, g *grounds, setting *declaration.Setting) (string, error) {
	valueFrom := setting.From
	if !g.budget.begin() {
		return "", errors.New("has no value: the expressions of the add-on together take too many steps")
	}
	variables, err := variablesFor(g.catalog, valueFrom.Expression, setting.Reads, addOn, g.state)
	if err != nil {
		return "", err
	}
	value, exists, cost, err := valueFrom.Value(variables)
	g.budget.spend(cost)
	switch {
	case err != nil:
		return "", fmt.Errorf("has no value: valueFrom failed: %w", err)
	case !exists || value == "":
		return "", errNoValue
	case utf8.RuneCountInString(value) > declaration.MaxVariableValue:
		return "", fmt.Errorf("has no value: that of valueFrom has more than %d characters", declaration.MaxVariableValue)
	}
	return value, nil
}

// variablesFor returns the variables of an expression in an edge of an add-on. reads has the add-ons whose settings the
// expression reads. The error is errUnread if an input could not be read yet.
func variablesFor(
	c *catalog.Catalog, reader *expression.Expression, reads []declaration.ReadAddOn, addOn string, state *State,
) (expression.Variables, error) {
	self := state.AddOns.Named(addOn)
	if reader.Inputs().Any(input.Config) && self.ConfigUnread {
		return expression.Variables{}, errUnread
	}
	version := ""
	if reader.Inputs().Any(input.Version) {
		var ok bool
		if version, ok = state.Cluster.versionOf(self, c.Version(addOn)); !ok {
			return expression.Variables{}, errUnread
		}
	}
	variables := expression.Variables{
		Cluster: variablesOf(&state.Cluster),
		AddOn:   expression.AddOn{Name: addOn, Labels: self.Labels, Annotations: self.Annotations, Version: version},
		Config:  self.Config,
	}
	for _, source := range reads {
		observed := state.AddOns.Named(source.AddOn)
		if observed.ConfigUnread {
			return expression.Variables{}, errUnread
		}
		if variables.Dependencies == nil {
			variables.Dependencies = make(map[string]expression.Dependency, len(reads))
		}
		variables.Dependencies[source.Edge] = expression.Dependency{Config: observed.Config}
	}
	return variables, nil
}

// settingInputs returns the inputs of the settings of an edge.
func settingInputs(edge *declaration.Edge) input.Set {
	var inputs input.Set
	for i := range edge.Settings {
		inputs |= input.Settings // the AddOnDeploymentConfig has them
		if valueFrom := edge.Settings[i].From; valueFrom != nil {
			inputs |= valueFrom.Inputs()
		}
	}
	return inputs
}

// Settings returns the settings that the edge requests for its add-on. The second result is false if they could not be
// computed yet.
func (f Finding) Settings() ([]settings.Variable, bool) {
	if f.Detail == nil {
		return nil, true
	}
	return f.Detail.Settings, !f.Detail.SettingsUnread
}
