package evaluation

import (
	"fmt"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

// dueRule describes an edge that waits for a report of addon-agent, or for OCM's choice of an AddOnTemplate.
var dueRule = rule{sentence: dueSentence, describe: describeDue}

func dueSentence(f *Finding) string { return "Whether " + f.openQuestion() + " is not known yet." }

func describeDue(f *Finding) string {
	if f.Detail != nil && f.Detail.TemplateDue {
		return "Open Cluster Management has still to choose its AddOnTemplate"
	}
	return "addon-agent has not reported it yet"
}

// openQuestion returns the fact that the report decides, such as "API 'Tunnel.example.com' is served".
func (f *Finding) openQuestion() string {
	switch {
	case f.Dependency == nil:
		return f.Name() + " is met"
	case declaration.HasAlternatives(f.Dependency):
		return "one of the alternatives of '" + text.Name(f.Name()) + "' is available"
	case f.Dependency.API != nil:
		return fmt.Sprintf("API '%s' is served%s", f.API(), f.onServer())
	case declaration.ComparesVersion(f.Dependency):
		return fmt.Sprintf("addon '%s' is installed in version '%s'", text.Name(declaration.Target(f.Dependency)), excerpt(f.Dependency.Version))
	default:
		return fmt.Sprintf("the dependency on '%s' applies", text.Name(declaration.Target(f.Dependency)))
	}
}
