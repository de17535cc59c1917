package gitops

import (
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// transitionTime is the time of each transition.
var transitionTime = metav1.Unix(1785578400, 0).Rfc3339Copy()

// The messages of the checks and of OCM.
const (
	unreported = "The add-on has not reported yet."
	leaving    = "The add-on is being deleted."

	running = "gateway add-on is available."
	silent  = "gateway add-on is not available."
	lost    = "Registration agent stopped updating its lease."
)

// state is an add-on on a managed cluster, with the results that the tools should report.
type state struct {
	name      string
	addOn     *addonv1alpha1.ManagedClusterAddOn
	noStatus  bool
	argo      string
	message   string
	flux      string
	fluxFails bool
}

func addOn(conditions ...metav1.Condition) *addonv1alpha1.ManagedClusterAddOn {
	made := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "gateway", Generation: 1}}
	made.Status.Conditions = conditions
	return made
}

func deleted(addOn *addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn {
	addOn.DeletionTimestamp, addOn.Finalizers = &transitionTime, []string{"addon.open-cluster-management.io/addon-pre-delete"}
	return addOn
}

func reported(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: transitionTime}
}

// degraded returns the condition that addon-manager writes for a dependency of that type
// with this verdict.
func degraded(t *testing.T, dependency addonv1alpha1.DependencyType, verdict evaluation.Verdict) metav1.Condition {
	t.Helper()
	edge := &addonv1alpha1.AddonDependency{Name: "proxy", Type: dependency, Message: "There is no tunnel"}
	finding := evaluation.Finding{Dependency: edge, Verdict: verdict}
	stored := reported("Degraded", "False", addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied, "")
	decided := condition.Decide(condition.Stored{Degraded: &stored}, []evaluation.Finding{finding}, transitionTime).Degraded
	if decided == nil {
		t.Fatal("addon-manager would write nothing")
	}
	return *decided
}

func states(t *testing.T) []state {
	t.Helper()
	required := degraded(t, addonv1alpha1.DependencyTypeRequired, evaluation.NotInstalled)
	optional := degraded(t, addonv1alpha1.DependencyTypeOptional, evaluation.NotInstalled)
	satisfied := degraded(t, addonv1alpha1.DependencyTypeRequired, evaluation.Satisfied)
	follows := required
	follows.Type, follows.Status = "Available", "False"
	available := reported("Available", "True", "ManagedClusterAddOnLeaseUpdated", running)
	stopped := reported("Available", "False", "ManagedClusterAddOnLeaseUpdateStopped", silent)
	unknown := reported("Available", "Unknown", "ManagedClusterLeaseUpdateStopped", lost)
	completed := reported("Progressing", "False", "Completed", "completed with no errors.")
	foreign := reported("Degraded", "True", "DiskFull", "No space")
	return []state{
		{name: "just created", addOn: addOn(), noStatus: true, argo: "Progressing", message: unreported, fluxFails: true},
		{name: "not yet evaluated", addOn: addOn(), argo: "Progressing", message: unreported, flux: "InProgress"},
		{name: "evaluated, not reported", addOn: addOn(satisfied), argo: "Progressing", message: unreported, flux: "InProgress"},
		{name: "available", addOn: addOn(available), argo: "Healthy", message: running, flux: "Current"},
		{name: "available and satisfied", addOn: addOn(available, satisfied), argo: "Healthy", message: running, flux: "Current"},
		{name: "a Required dependency fails", addOn: addOn(follows, required), argo: "Degraded", message: required.Message, flux: "Failed"},
		{name: "the agent has not followed", addOn: addOn(available, required), argo: "Degraded", message: required.Message, flux: "Failed"},
		{
			name: "an Optional dependency fails", addOn: addOn(available, optional),
			argo: "Healthy", message: optional.Message, flux: "Current",
		},
		{name: "another writer's Degraded", addOn: addOn(available, foreign), argo: "Degraded", message: "No space", flux: "Failed"},
		{name: "it stopped", addOn: addOn(stopped, satisfied), argo: "Degraded", message: silent, flux: "Failed"},
		{
			name: "its pods are not ready", addOn: addOn(reported("Available", "False", "ProbeUnavailable", silent), completed),
			argo: "Progressing", message: silent, flux: "InProgress",
		},
		{
			name: "its work is not applied", addOn: addOn(reported("Available", "False", "WorkNotApplied", silent), completed),
			argo: "Degraded", message: silent, flux: "Failed",
		},
		{
			name:  "it is being rolled out",
			addOn: addOn(reported("Available", "False", "WorkNotApplied", silent), reported("Progressing", "True", "Progressing", "progressing")),
			argo:  "Progressing", message: silent, flux: "InProgress",
		},
		{name: "the cluster is lost", addOn: addOn(unknown, satisfied), argo: "Progressing", message: lost, flux: "InProgress"},
		{name: "lost while a dependency fails", addOn: addOn(unknown, required), argo: "Degraded", message: required.Message, flux: "Failed"},
		{name: "deleted", addOn: deleted(addOn(available, satisfied)), argo: "Progressing", message: leaving, flux: "InProgress"},
		{
			name: "deleted while a dependency fails", addOn: deleted(addOn(follows, required)),
			argo: "Progressing", message: leaving, flux: "InProgress",
		},
	}
}

// object converts an API object to the form that the tools read.
func object(t *testing.T, typed any, kind string, noStatus bool) *unstructured.Unstructured {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		t.Fatal(err)
	}
	read := &unstructured.Unstructured{Object: content}
	read.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind(kind))
	if noStatus {
		unstructured.RemoveNestedField(read.Object, "status")
	}
	return read
}

// read reads a file of deploy/gitops.
func read(t *testing.T, name string, target any) {
	t.Helper()
	content, err := os.ReadFile("../../deploy/gitops/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(content, target); err != nil {
		t.Fatal(err)
	}
}
