package declarations

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/kube/events"
)

// reportProblems emits events on new problems, and sets the metric of all problems. Problems
// of an AddOnTemplate are emitted on the template, and are counted for its add-on.
func (r *Reconciler) reportProblems(
	addOns []addonv1alpha1.ClusterManagementAddOn, templates []addonv1alpha1.AddOnTemplate, previous, current *evaluation.Evaluator,
) {
	for i := range addOns {
		addOn := &addOns[i]
		problems := current.Problems(addOn.Name)
		r.emitProblems(events.About(events.ClusterManagementAddOn, addOn), previous.Problems(addOn.Name), problems)
		for _, template := range current.Variants(addOn.Name) {
			problems = append(problems, current.TemplateProblems(template)...)
		}
		r.Metrics.SetProblems(addOn.Name, problems)
	}
	for i := range templates {
		template := &templates[i]
		r.emitProblems(events.About(events.AddOnTemplate, template),
			previous.TemplateProblems(template.Name), current.TemplateProblems(template.Name))
	}
}

// emitProblems emits one event for each reason with new problems.
func (r *Reconciler) emitProblems(about *corev1.ObjectReference, previous, problems []declaration.Problem) {
	for _, reason := range declaration.ProblemReasons {
		if added := messages(problems, previous, reason); len(added) > 0 {
			r.Recorder.Eventf(about, nil, corev1.EventTypeWarning,
				string(reason), "CheckDependencies", "%s", events.Note(strings.Join(added, "; ")))
		}
	}
}

// messages returns the messages of the new problems with the reason. One event has all
// of them.
func messages(problems, previous []declaration.Problem, reason declaration.ProblemReason) []string {
	var added []string
	for _, problem := range problems {
		if problem.Reason == reason && !slices.Contains(previous, problem) {
			added = append(added, problem.Message)
		}
	}
	return added
}
