package install

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/text"
)

// choice is the configuration that a user has chosen for the named add-on.
type choice struct {
	addOn             string
	template, version string
	variables         []string
	// versions are the range of version.
	versions *versions.Range
	// settings are the variables, each with its value.
	settings []settings.Variable
}

func (c *choice) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&c.version, "version", "", "The version of the add-on: that of one of its AddOnTemplates, or a range, of which the newest is taken.")
	flags.StringVar(&c.template, "template", "", "The AddOnTemplate of the add-on, instead of the default one.")
	flags.StringArrayVar(&c.variables, "set", nil,
		"A variable of the add-on, as NAME=VALUE. Can be repeated. The add-on gets an AddOnDeploymentConfig of its own.")
}

// variableName is the pattern of OCM for names of variables.
var variableName = regexp.MustCompile(`^[a-zA-Z_][_a-zA-Z0-9]*$`)

// complete reads the flags. Its error is a wrong use of the verb.
func (c *choice) complete(addOns []string) (err error) {
	switch {
	case c.template == "" && c.version == "" && len(c.variables) == 0:
		return nil
	case len(addOns) != 1:
		return errors.New("--version, --template and --set are for one add-on: name only that one")
	case c.template != "" && c.version != "":
		return errors.New("--template and --version: choose one")
	}
	c.addOn = addOns[0]
	if c.version != "" {
		if c.versions, err = versions.ParseRange(c.version, &addonv1alpha1.DependencyPrereleases{}); err != nil {
			return fmt.Errorf("--version=%q: %w", c.version, err)
		}
	}
	for _, variable := range c.variables {
		name, value, ok := strings.Cut(variable, "=")
		switch {
		case !ok || !variableName.MatchString(name):
			return fmt.Errorf("--set=%q: use NAME=VALUE. NAME has letters, digits and _ only, and begins with no digit", variable)
		case slices.ContainsFunc(c.settings, func(earlier settings.Variable) bool { return earlier.Name == name }):
			return fmt.Errorf("--set=%q: %s is set twice", variable, name)
		}
		c.settings = append(c.settings, settings.Variable{Name: name, Value: value, Sealed: true})
	}
	return nil
}

// resolve chooses the AddOnTemplate, and checks that the add-on can be configured.
func (c *choice) resolve(hub *planned.Fleet) error {
	if c.addOn == "" {
		return nil
	}
	index := slices.IndexFunc(hub.Registrations, func(registered addonv1alpha1.ClusterManagementAddOn) bool { return registered.Name == c.addOn })
	if index < 0 {
		return nil
	}
	if len(c.settings) > 0 && !fleet.TakesConfigs(&hub.Registrations[index]) {
		return fmt.Errorf("--set: add-on %q has no variables, because its ClusterManagementAddOn does not list addondeploymentconfigs in "+
			"spec.supportedConfigs", c.addOn)
	}
	if c.template == "" && c.version == "" {
		return nil
	}
	templates := c.templates(hub)
	for _, template := range templates {
		if template.Name == c.template || c.template == "" && c.accepts(template.Running) {
			c.template = template.Name
			return nil
		}
	}
	flag := fmt.Sprintf("--template=%q", c.template)
	if c.version != "" {
		flag = fmt.Sprintf("--version=%q", c.version)
	}
	return fmt.Errorf("%s: add-on %q has no such AddOnTemplate. %s", flag, c.addOn, list(templates))
}

// templates returns the AddOnTemplates of the add-on. Newer versions come first.
func (c *choice) templates(hub *planned.Fleet) []versions.Templates {
	var templates []versions.Templates
	for i := range hub.Templates {
		if template := &hub.Templates[i]; template.Spec.AddonName == c.addOn {
			templates = append(templates, versions.Templates{Name: template.Name, Running: versions.OfTemplate(template.Annotations, template.Labels)})
		}
	}
	slices.SortFunc(templates, func(a, b versions.Templates) int {
		return cmp.Or(newerFirst(a.Running, b.Running), strings.Compare(a.Name, b.Name))
	})
	return templates
}

// newerFirst compares versions. What is no version comes last.
func newerFirst(a, b string) int {
	first, firstErr := semver.NewVersion(a)
	second, secondErr := semver.NewVersion(b)
	switch {
	case firstErr != nil && secondErr != nil:
		return 0
	case firstErr != nil:
		return 1
	case secondErr != nil:
		return -1
	}
	return second.Compare(first)
}

// accepts reports whether a user has chosen a version.
func (c *choice) accepts(version string) bool {
	parsed, err := semver.NewVersion(version)
	return err == nil && c.versions.Mismatch(parsed) == ""
}

// list names AddOnTemplates with their versions.
func list(templates []versions.Templates) string {
	if len(templates) == 0 {
		return "It has none"
	}
	names := make([]string, len(templates))
	for i, template := range templates {
		names[i] = fmt.Sprintf("'%s' (%s)", text.Name(template.Name), cmp.Or(text.OneLine(template.Running), "no version"))
	}
	return "It has " + strings.Join(names, ", ")
}

// report adds the AddOnTemplate to the findings. Where OCM installs the add-on, OCM configures it, and that is a problem.
func (c *choice) report(plan *steps.Plan) {
	for _, step := range slices.Concat(plan.Layers...) {
		switch {
		case step.AddOn != c.addOn:
		case step.ByPlugin() && c.template != "":
			plan.Findings = append(plan.Findings, steps.Finding{
				Text:     fmt.Sprintf("'%s' gets AddOnTemplate '%s'", text.Name(c.addOn), text.Name(c.template)),
				Clusters: step.Clusters,
			})
		case step.ByOCM:
			plan.Problems = append(plan.Problems, steps.Finding{
				Text: fmt.Sprintf("'%s' cannot be configured: a Placement installs it. Configure it in its ClusterManagementAddOn, "+
					"spec.installStrategy.placements[].configs", text.Name(c.addOn)),
				Clusters: step.Clusters,
			})
		}
	}
}

// configs returns the configurations of a new ManagedClusterAddOn that the user has chosen.
func (c *choice) configs(addOn types.NamespacedName) (configs []ocmv1alpha1.AddOnConfig) {
	if addOn.Name != c.addOn {
		return nil
	}
	if c.template != "" {
		configs = append(configs, ocmv1alpha1.AddOnConfig{
			ConfigGroupResource: declaration.Templates, ConfigReferent: ocmv1alpha1.ConfigReferent{Name: c.template},
		})
	}
	if len(c.settings) > 0 {
		configs = append(configs, fleet.ConfigReference(types.NamespacedName{Namespace: addOn.Namespace, Name: configName(addOn.Name)}))
	}
	return configs
}
