package evaluation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
)

// hubAPIRule is the rule of an edge on an API of the hub. Its messages name no provider, because add-ons provide APIs on
// managed clusters.
var hubAPIRule = rule{inputs: input.HubAPIs, sentence: apiSentence, describe: describeAPI}

// evaluateHubAPI evaluates the state of the API on the hub. An unknown state is held, because it may become known without
// a change on the managed cluster.
func evaluateHubAPI(g *grounds, f *Finding) {
	api := g.edge.Dependency.API
	fact := g.cluster.HubAPIs[api.AddonAPI]
	fields := lookUpFields(api, &fact)
	switch {
	case fact.Served == metav1.ConditionTrue && fields.satisfied():
		f.Verdict = Satisfied
	case fact.Served == "" || fields.pending:
		f.Verdict = Held
		f.detail().Because = "whether the hub serves the API " + f.API() + " is not known yet"
	case fact.Served == metav1.ConditionUnknown:
		f.Verdict = Held
		f.detail().Because = "whether the hub serves the API " + f.API() + " is not known: " + fact.Message
	case fact.Served == metav1.ConditionTrue && len(fields.missing) == 0:
		f.Verdict = Held
		f.detail().Because = "which fields the API " + f.API() + " of the hub has is not known: " + fields.unknownReason
	default:
		f.unsatisfy(api, &fact, &fields, "")
	}
}
