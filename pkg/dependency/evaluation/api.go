package evaluation

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/text"
)

// apiRule is the rule of an edge on an API of the managed cluster.
var apiRule = rule{inputs: input.Facts, sentence: apiSentence, describe: describeAPI}

func apiSentence(f *Finding) string {
	failure := "is not served" + f.server("by")
	switch detail := f.detail(); {
	case detail.Served && detail.Unreported:
		failure = "is not known to have the required fields" + f.server("on")
	case detail.Served:
		failure = "does not have the required fields" + f.server("on")
	}
	return fmt.Sprintf("%s API '%s' %s.", f.Type(), f.API(), failure)
}

func describeAPI(f *Finding) string {
	detail := f.detail()
	described := text.Cut(text.OneLine(detail.Because), maxReason)
	if len(detail.Providers) > 0 {
		described += "; provided by addon " + text.Names(detail.Providers, " or ")
	}
	if detail.Stopped {
		described += "; install: Auto has no effect, because several add-ons provide it: install one of them"
	}
	return described
}

// server returns the cluster that must serve the API, after a preposition. It is empty for the managed cluster itself.
func (f *Finding) server(preposition string) string {
	switch {
	case declaration.ServedBy(f.Dependency) == addonv1alpha1.APIServerHub:
		return " " + preposition + " the hub"
	case f.detail().HostingCluster != "":
		return fmt.Sprintf(" %s hosting cluster '%s'", preposition, text.Name(f.Detail.HostingCluster))
	default:
		return ""
	}
}

// evaluateAPI evaluates the report on the API by the agent of the managed cluster.
func evaluateAPI(g *grounds, f *Finding) {
	evaluateReported(g, f, g.cluster, notReported)
}

// evaluateReported evaluates the report on the API by the agent of a cluster. unreported is the reason for the message if
// the agent has not reported the API.
func evaluateReported(g *grounds, f *Finding, cluster *Cluster, unreported string) {
	if until, held := cluster.factsHeld(); held {
		f.Verdict, f.Until = Held, until
		return
	}
	api := g.edge.Dependency.API
	fact, reported := cluster.Facts.APIs[api.AddonAPI]
	fields := lookUpFields(api, &fact)
	due, pending := cluster.reportDue()
	switch {
	case fact.Served == metav1.ConditionTrue && fields.satisfied():
		f.Verdict = Satisfied
	case pending && (!reported || fields.pending):
		f.awaitReport(due)
	default:
		f.unsatisfy(api, &fact, &fields, unreported)
		f.Detail.Providers = g.catalog.Providers(api.AddonAPI)
		f.Detail.Stopped = len(f.Detail.Providers) > 1 && declaration.Installs(&g.edge.Dependency) && !f.Detail.Served
	}
}

// unsatisfy sets the verdict APINotServed with its reason: the API, or some of its fields, are missing or unknown.
func (f *Finding) unsatisfy(api *addonv1alpha1.DependencyAPI, fact *APIFact, fields *apiFields, unreported string) {
	f.Verdict = APINotServed
	f.detail().Because = notServed(*fact, unreported)
	if fact.Served == metav1.ConditionTrue {
		f.Detail.Because, f.Detail.Served = fields.explain(api, fact, unreported), true
	}
	f.Detail.Unreported = fact.Served != metav1.ConditionFalse && len(fields.missing) == 0
}

// notServed returns the reason why an API counts as not served.
func notServed(fact APIFact, unreported string) string {
	switch {
	case fact.Served == "":
		return "not known: " + unreported
	case fact.Served == metav1.ConditionFalse && len(fact.Versions) > 0:
		return "served in " + strings.Join(fact.Versions, ", ")
	case fact.Served == metav1.ConditionFalse:
		return "not served"
	default:
		return "not known: " + fact.Message
	}
}

// API returns the name of the edge's API for messages. It is empty if the edge is not on an API.
func (f Finding) API() string {
	if f.Dependency == nil || f.Dependency.API == nil {
		return ""
	}
	return excerpt(apiName(f.Dependency.API.AddonAPI))
}

// apiTarget returns the name of the API. It includes the cluster that must serve the API, unless that is the managed
// cluster.
func (f Finding) apiTarget() string { return f.API() + f.onServer() }

func (f Finding) onServer() string {
	switch declaration.ServedBy(f.Dependency) {
	case addonv1alpha1.APIServerHub:
		return " on the hub"
	case addonv1alpha1.APIServerHostingCluster:
		return " on the hosting cluster"
	default:
		return ""
	}
}

// apiName returns Kind.group/version. Group and version are optional.
func apiName(api addonv1alpha1.AddonAPI) string {
	name := api.Kind
	if api.Group != "" {
		name += "." + api.Group
	}
	if api.Version != "" {
		name += "/" + api.Version
	}
	return name
}
