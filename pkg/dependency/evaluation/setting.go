package evaluation

import (
	"fmt"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/expression"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/text"
)

// settingRule is the rule of an edge on an add-on with unsuitable settings. The edge is satisfied in all other respects.
var settingRule = rule{sentence: settingSentence, describe: describeSetting}

// describeSetting describes settings that are unsuitable, and those that the edge requests and that are not set.
func describeSetting(f *Finding) string {
	return strings.Join(append([]string{f.detail().Because}, f.Unset()...), "; ")
}

// evaluateSetting checks the settings of an installed add-on that satisfies the edge in all other respects.
func evaluateSetting(g *grounds, f *Finding) {
	if g.edge == nil || g.edge.Config == nil || f.Verdict != Satisfied {
		return
	}
	observed := g.state.AddOns.Named(g.edge.AddOn)
	switch {
	case !observed.Installed:
		return
	case g.edge.Config.Inputs().Any(input.Config) && observed.ConfigUnread:
		f.Verdict = Held
		return
	case !g.budget.begin():
		f.Verdict = SettingMismatch
		f.detail().Because = "config.expression was not evaluated: the expressions of the add-on together take too many steps"
		return
	}
	holds, cost, err := g.edge.Config.Evaluate(expression.Variables{Cluster: variablesOf(g.cluster), Config: observed.Config})
	g.budget.spend(cost)
	switch {
	case err != nil:
		f.Verdict = SettingMismatch
		f.detail().Because = text.Cut(text.OneLine(fmt.Sprintf("config.expression failed: %v", err)), maxReason)
	case !holds:
		f.Verdict = SettingMismatch
		f.detail().Because = "not true of its settings: " + excerpt(g.edge.Dependency.Config.Expression)
	}
}

func variablesOf(cluster *Cluster) expression.Cluster {
	return expression.Cluster{
		Name:    cluster.Name,
		Labels:  cluster.Labels,
		Claims:  cluster.Claims,
		Version: cluster.KubernetesVersion,
	}
}

func settingSentence(f *Finding) string {
	name := text.Name(declaration.Target(f.Dependency))
	if f.Type() == addonv1alpha1.DependencyTypeIfInstalled {
		return fmt.Sprintf("Addon '%s' is installed, but not with the settings that are needed.", name)
	}
	return fmt.Sprintf("%s addon '%s' is not installed with the settings that are needed.", f.Type(), name)
}

// settingReader is an add-on with an edge that reads the settings of another add-on.
type settingReader struct {
	dependent string
	keys      expression.Keys
}

// addSettingReaders adds the readers in the declarations of the dependent, by the add-on whose settings they read.
func addSettingReaders(readers map[string][]settingReader, c *catalog.Catalog, dependent string) {
	allKeys := expression.Keys{Config: expression.Names{All: true}}
	if cycle := c.WidestCycle(dependent); cycle != nil {
		for _, target := range cycle.Reads() {
			readers[target] = append(readers[target], settingReader{dependent, allKeys})
		}
	}
	add := func(d declaration.Declaration) {
		for i := range d.Edges {
			edge := &d.Edges[i]
			if edge.Config != nil {
				readers[edge.AddOn] = append(readers[edge.AddOn], settingReader{dependent, edge.Config.Keys()})
			}
			for _, target := range edge.Reads() {
				readers[target.AddOn] = append(readers[target.AddOn], settingReader{dependent, allKeys})
			}
		}
	}
	add(c.Declaration(dependent))
	for _, template := range c.Variants(dependent) {
		_, d, _ := c.Template(template)
		add(d)
	}
}
