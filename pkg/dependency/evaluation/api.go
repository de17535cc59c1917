package evaluation

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// findAPI looks up what the agent of the cluster reports of an API.
func (c *Evaluator) findAPI(finding *Finding, cluster *Cluster) {
	if until := cluster.Facts.HeldUntil; cluster.Offline == OfflineHold && cluster.Now.Before(until) {
		finding.Verdict, finding.Until = Held, until
		return
	}
	api := *finding.Dependency.API
	fact, answered := cluster.Facts.APIs[api]
	due, pending := cluster.answerDue()
	switch {
	case fact.Served == metav1.ConditionTrue:
		finding.Verdict = Satisfied
		return
	case !answered && pending:
		finding.Verdict, finding.Until = Held, due
		return
	}
	finding.Verdict = APINotServed
	detail := finding.detail()
	detail.Providers = c.Providers(api)
	switch {
	case !answered:
		detail.Because = "not known: " + notAnswered
	case fact.Served == metav1.ConditionFalse && len(fact.Versions) > 0:
		detail.Because = "served in " + strings.Join(fact.Versions, ", ")
	case fact.Served == metav1.ConditionFalse:
		detail.Because = "not served"
	default:
		detail.Because = "not known: " + fact.Message
	}
}
