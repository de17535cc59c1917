package evaluation

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// findAddOn decides by the state of the add-on, and then by its version.
func (c *Evaluator) findAddOn(finding *Finding, e *declaration.Edge, cluster *Cluster, observed *Observation) {
	onlyVersion := e.Declared.Type == addonv1alpha1.DependencyTypeIfInstalled
	switch {
	case !observed.Installed && onlyVersion:
		finding.Verdict = Satisfied
	case !observed.Installed:
		finding.Verdict = NotInstalled
	case onlyVersion:
		c.findVersion(finding, e, cluster, observed)
	case RequiredFails(observed.Degraded):
		// Available follows this condition. Because this one comes first, the
		// finding does not change then.
		finding.Verdict, finding.Degraded = NotAvailable, observed.Degraded
	case observed.Available == nil:
		finding.Verdict = NotAvailable
	case observed.Available.Status == metav1.ConditionTrue && e.Versions == nil:
		finding.Verdict = Satisfied
	case observed.Available.Status == metav1.ConditionTrue:
		c.findVersion(finding, e, cluster, observed)
	case cluster.settling(observed):
		finding.Verdict, finding.Until = Held, cluster.settled(observed)
	default:
		finding.Verdict, finding.Available = NotAvailable, observed.Available
	}
}
