package report

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
)

// RemovalPlan has the steps of removing add-ons, layer by layer.
type RemovalPlan struct {
	metav1.TypeMeta `json:",inline"`
	// Feasible is whether all steps can be done. If not, no step is done.
	Feasible bool `json:"feasible"`
	// Items are the steps, in the order of the layers.
	Items []RemovalStep `json:"items"`
	// Problems are the reasons why the plan is not feasible. Findings are other facts that matter.
	Problems []PlanFinding `json:"problems,omitempty"`
	Findings []PlanFinding `json:"findings,omitempty"`
}

// RemovalStep is an add-on that is removed.
type RemovalStep struct {
	// Layer is from 1. The add-ons of a layer are removed together, after the add-ons of the preceding layer.
	Layer int    `json:"layer"`
	AddOn string `json:"addOn"`
	// NeededBy are the only add-ons that needed it. It is empty for an add-on that the user named.
	NeededBy []string `json:"neededBy,omitempty"`
	Clusters []string `json:"clusters"`
}

// PlanFinding is a sentence that is true on some managed clusters.
type PlanFinding struct {
	Message  string   `json:"message"`
	Clusters []string `json:"clusters"`
}

// RemovalOf returns a plan as data.
func RemovalOf(plan *steps.Plan) *RemovalPlan {
	removal := &RemovalPlan{
		TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "RemovalPlan"}, Feasible: plan.Feasible(), Items: []RemovalStep{},
		Problems: planFindings(plan.Problems), Findings: planFindings(plan.Findings),
	}
	for i, layer := range plan.Layers {
		for _, step := range layer {
			removal.Items = append(removal.Items, RemovalStep{Layer: i + 1, AddOn: step.AddOn, NeededBy: step.Because, Clusters: step.Clusters})
		}
	}
	return removal
}

func planFindings(findings []steps.Finding) []PlanFinding {
	var planFindings []PlanFinding
	for _, finding := range findings {
		planFindings = append(planFindings, PlanFinding{Message: finding.Text, Clusters: finding.Clusters})
	}
	return planFindings
}
