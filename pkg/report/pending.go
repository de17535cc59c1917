package report

import (
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
)

// pending returns the edges that the current rollouts break or repair.
func (r *clusterReport) pending() []dependencyv1alpha1.PendingEdge {
	change := whatif.Change{Versions: map[string]string{}}
	for name, observation := range r.AddOns {
		if observation.Template.Next != "" {
			change.RollOut = append(change.RollOut, name)
		}
		if observation.Template.RollingOut != "" {
			change.Versions[name] = observation.Template.RollingOut
		}
	}
	if len(change.RollOut)+len(change.Versions) == 0 {
		return nil
	}
	var pending []dependencyv1alpha1.PendingEdge
	findings := r.evaluator.Findings(change.Apply(r.Cluster.Cluster))
	for _, difference := range whatif.Compare(r.findings, findings) {
		wasUnsatisfied := difference.Before != nil && difference.Before.Unsatisfied()
		if !wasUnsatisfied && !difference.After.Unsatisfied() {
			continue
		}
		entry := dependencyv1alpha1.PendingEdge{
			AddOn: name(difference.AddOn), Dependency: name(difference.After.Name()), Verdict: string(difference.After.Verdict),
		}
		if difference.After.Unsatisfied() {
			entry.Found = sentence(difference.After.Reason())
		}
		pending = append(pending, entry)
	}
	return pending
}
