package metrics

import (
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
)

const typeRequired = string(addonv1alpha1.DependencyTypeRequired)

// contribute calls add with the contribution of a managed cluster to each series.
func (c *cluster) contribute(add func(series, int)) {
	failing := map[string][]cause.FailingEdge{}
	required := map[string]bool{}
	for _, addOn := range c.addOns {
		for i, e := range addOn.edges.edges {
			verdict := code(addOn.codes[i])
			if !e.alternative {
				e.contribute(addOn.addOn, verdict, c.lost || verdict.hasFlag(codeHeld), add)
			}
			if verdict.hasFlag(codeBlocks) && e.isCause(verdict.verdict()) {
				failing[addOn.addOn] = append(failing[addOn.addOn], cause.FailingEdge{
					Target: e.target, Verdict: verdict.verdict(), Follows: verdict.hasFlag(codeFollows),
				})
			}
			if i+1 < len(addOn.edges.edges) && addOn.edges.edges[i+1].alternative && !e.alternative {
				continue // its alternatives are required instead
			}
			if verdict.hasFlag(codeBlocks) || e.kind == typeRequired && verdict.verdict() != evaluation.NotApplicable && verdict.verdict() != evaluation.Waived {
				required[e.target] = true
			}
		}
	}
	if c.lost {
		return // the failures of a lost cluster are unknown
	}
	for _, addOn := range c.addOns {
		addOn.contributeBlockers(add)
	}
	for target := range required {
		add(series{NameRequiring, [4]string{target}}, 1)
	}
	for _, root := range cause.Roots(failing) {
		add(series{NameRoots, [4]string{root.Target, string(root.Verdict)}}, 1)
		add(series{NameVictims, [4]string{root.Target}}, root.Victims)
	}
}

// contributeBlockers calls add with the platforms whose upgrade would break the add-on.
func (v verdicts) contributeBlockers(add func(series, int)) {
	if v.edges == nil {
		return
	}
	if v.blockers.Kubernetes {
		add(series{NameBlockers, [4]string{v.addOn, "kubernetes"}}, 1)
	}
	if v.blockers.OCM {
		add(series{NameBlockers, [4]string{v.addOn, "ocm"}}, 1)
	}
}

// contribute calls add with the contribution of an edge of the add-on.
func (e edge) contribute(addOn string, c code, held bool, add func(series, int)) {
	verdict := c.verdict()
	if verdict == evaluation.NotApplicable {
		return
	}
	add(series{NameEdges, [4]string{addOn, e.dependency, e.kind}}, 1)
	labels := [4]string{addOn, e.dependency, e.kind, string(verdict)}
	if held {
		add(series{NameHeld, labels}, 1)
	}
	if verdict == evaluation.Waived {
		add(series{NameWaived, [4]string{addOn, e.dependency, e.kind}}, 1)
	}
	if verdict.Unsatisfied() {
		add(series{NameUnsatisfied, labels}, 1)
	}
}
