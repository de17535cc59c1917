package evaluation

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/text"
)

// apiRule is that of an edge on an API of the managed cluster.
var apiRule = rule{
	inputs: input.Facts,
	sentence: func(f *Finding) string {
		failure := "is not served"
		switch detail := f.detail(); {
		case detail.Served && detail.Unreported:
			failure = "is not known to have the required fields"
		case detail.Served:
			failure = "does not have the required fields"
		}
		return fmt.Sprintf("%s API '%s' %s.", f.Type(), shown(apiName(f.Dependency.API.AddonAPI)), failure)
	},
	found: func(f *Finding) string {
		detail := f.detail()
		described := text.Cut(text.OneLine(detail.Because), maxReason)
		if len(detail.Providers) > 0 {
			described += "; provided by addon " + text.Names(detail.Providers, " or ")
		}
		return described
	},
}

// evaluateAPI looks up what the agent of the cluster reports of the API.
func evaluateAPI(g *given, f *Finding) {
	if until, held := g.cluster.factsHeld(); held {
		f.Verdict, f.Until = Held, until
		return
	}
	api := g.edge.Dependency.API
	fact, answered := g.cluster.Facts.APIs[api.AddonAPI]
	fields := lookUpFields(api, &fact)
	due, pending := g.cluster.answerDue()
	switch {
	case fact.Served == metav1.ConditionTrue && fields.satisfied():
		f.Verdict = Satisfied
	case pending && (!answered || fields.awaited):
		f.Verdict, f.Until = Held, due
	default:
		f.Verdict = APINotServed
		f.detail().Because, f.Detail.Providers = notServed(fact, answered), g.catalog.Providers(api.AddonAPI)
		if fact.Served == metav1.ConditionTrue {
			f.Detail.Because, f.Detail.Served = fields.explain(api, &fact), true
		}
		f.Detail.Unreported = fact.Served != metav1.ConditionFalse && len(fields.missing) == 0
	}
}

// notServed explains why an API counts as not served.
func notServed(fact APIFact, answered bool) string {
	switch {
	case !answered:
		return "not known: " + notReported
	case fact.Served == metav1.ConditionFalse && len(fact.Versions) > 0:
		return "served in " + strings.Join(fact.Versions, ", ")
	case fact.Served == metav1.ConditionFalse:
		return "not served"
	default:
		return "not known: " + fact.Message
	}
}

// apiName is Kind.group/version, as far as they are given.
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
