package statuscmd

import (
	"cmp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/ptr"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
)

// Row shows an add-on on a managed cluster.
type Row struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Available and Degraded are the status of the conditions. They are empty without the condition.
	Available string `json:"available"`
	Degraded  string `json:"degraded"`
	// Since is the last transition of the condition that Reason and Message come from.
	Since time.Time `json:"since,omitzero"`
	// Reason and Message are from Degraded if it is True. Otherwise they are from Available.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Deletion is nil unless the add-on is being removed.
	Deletion *report.Deletion `json:"deletion,omitempty"`
	// Waits is the installation or upgrade that waits for dependencies. Its kind is empty if none waits.
	Waits Waits `json:"waits,omitzero"`
	// Installation is nil for an add-on that Interlock did not install. It is read for wide output, and from files.
	Installation *Installation `json:"installation,omitempty"`
	// dependency and verdict have the edges that are not satisfied. Only wide output has them.
	dependency, verdict string
}

// Waits is an installation or an upgrade that waits for dependencies.
type Waits struct {
	Kind dependencyv1alpha1.WaitKind `json:"kind"`
	// RunningTemplate is the AddOnTemplate that runs during an upgrade that waits.
	RunningTemplate string `json:"runningTemplate,omitempty"`
	// Template is the AddOnTemplate that waits. An installation may have none.
	Template string `json:"template,omitempty"`
	// Since is the time at which the wait began.
	Since time.Time `json:"since,omitzero"`
	// Message is the message of Installable or Upgradable, which names the dependencies.
	Message string `json:"message,omitempty"`
}

// Installation is an add-on that Interlock has installed because others need it.
type Installation struct {
	Phase       dependencyv1alpha1.InstallationPhase `json:"phase"`
	RequestedBy []string                             `json:"requestedBy,omitempty"`
	Since       time.Time                            `json:"since,omitzero"`
	// Reason explains the phase, or names the condition that the next step waits for.
	Reason string `json:"reason,omitempty"`
}

// cells returns the installation as columns.
func (i *Installation) cells(readTime time.Time) []string {
	if i == nil {
		return []string{"", ""}
	}
	phase := string(i.Phase)
	if i.Reason != "" && i.Reason != phase {
		phase += " (" + i.Reason + ")"
	}
	if since := age(i.Since, readTime); since != "" {
		phase += ", " + since
	}
	return []string{phase, strings.Join(i.RequestedBy, ",")}
}

// Heading has the columns of Cells, and WideHeading the columns of WideCells.
var (
	Heading     = []string{"NAMESPACE", "NAME", "AVAILABLE", "DEGRADED", "SINCE", "REASON", "MESSAGE"}
	WideHeading = []string{"NAMESPACE", "NAME", "AVAILABLE", "DEGRADED", "SINCE", "REASON", "DEPENDENCY", "VERDICT", "MESSAGE"}
)

// Cells returns the row as columns. Ages are relative to the time at which the row was read.
func (r Row) Cells(readTime time.Time) []string {
	return []string{r.Namespace, r.Name, r.Available, r.Degraded, age(r.Since, readTime), r.reasonCell(), r.messageCell()}
}

// WideCells returns the row as columns, with the edges that are not satisfied.
func (r Row) WideCells(readTime time.Time) []string {
	return []string{r.Namespace, r.Name, r.Available, r.Degraded, age(r.Since, readTime), r.reasonCell(), r.dependency, r.verdict, r.messageCell()}
}

// reasonCell returns the reason. It also shows that the add-on is being removed, because the conditions do not.
func (r Row) reasonCell() string {
	if r.Deletion == nil {
		return r.Reason
	}
	return strings.TrimSpace(r.Reason + " (being removed)")
}

// messageCell returns the message, after the description of a deletion.
func (r Row) messageCell() string {
	if r.Deletion == nil {
		return r.Message
	}
	return strings.TrimSuffix(r.Deletion.String()+": "+r.Message, ": ")
}

// WaitsCells returns the wait as a row of the same columns as Cells.
func (r Row) WaitsCells(readTime time.Time) []string {
	return []string{r.Namespace, r.Name, "", "", age(r.Waits.Since, readTime), gate.ReasonWaiting, r.Waits.Message}
}

// age returns the time that has passed since a time. It returns an empty string for a zero time.
func age(since, readTime time.Time) string {
	if since.IsZero() {
		return ""
	}
	return duration.HumanDuration(readTime.Sub(since))
}

// Unsatisfied reports whether a Required dependency keeps the add-on from working.
func (r Row) Unsatisfied() bool {
	return r.Degraded == string(metav1.ConditionTrue) &&
		r.Reason == addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
}

// Failing reports whether the add-on is degraded, or is not known to be available.
func (r Row) Failing() bool {
	return r.Degraded == string(metav1.ConditionTrue) || r.Available != string(metav1.ConditionTrue)
}

// Waiting reports whether an installation or an upgrade of the add-on waits for dependencies.
func (r Row) Waiting() bool { return r.Waits.Kind != "" }

// Rows makes rows of add-ons, ordered by namespace and name.
func Rows(addOns []addonv1alpha1.ManagedClusterAddOn) []Row {
	pointers := make([]*addonv1alpha1.ManagedClusterAddOn, 0, len(addOns))
	for i := range addOns {
		pointers = append(pointers, &addOns[i])
	}
	return rowsOf(pointers)
}

func rowsOf(addOns []*addonv1alpha1.ManagedClusterAddOn) []Row {
	rows := make([]Row, 0, len(addOns))
	for _, addOn := range addOns {
		rows = append(rows, row(addOn))
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return rows
}

func row(addOn *addonv1alpha1.ManagedClusterAddOn) Row {
	r := Row{Namespace: addOn.Namespace, Name: addOn.Name, Deletion: report.DeletionOf(addOn)}
	setReason := func(condition *metav1.Condition) {
		r.Reason, r.Message, r.Since = condition.Reason, condition.Message, condition.LastTransitionTime.UTC()
	}
	if available := fleet.Available(addOn); available != nil {
		r.Available = string(available.Status)
		setReason(available)
	}
	if degraded := fleet.Degraded(addOn); degraded != nil {
		r.Degraded = string(degraded.Status)
		if degraded.Status == metav1.ConditionTrue {
			setReason(degraded)
		}
	}
	r.Waits = waits(addOn)
	return r
}

// waits returns the installation or upgrade of an add-on that waits, with the message of its condition.
func waits(addOn *addonv1alpha1.ManagedClusterAddOn) Waits {
	waiting, ok := fleet.WaitingOf(addOn)
	if !ok {
		return Waits{}
	}
	condition := fleet.Upgradable(addOn)
	if waiting.Kind == dependencyv1alpha1.WaitInstallation {
		condition = fleet.Installable(addOn)
	}
	return Waits{
		Kind: waiting.Kind, RunningTemplate: waiting.Running.Name, Template: waiting.Template.Name, Since: waiting.Since.UTC(),
		Message: ptr.Deref(condition, metav1.Condition{}).Message,
	}
}

// addInstallations adds the AddOnInstallations of add-ons that Interlock has installed.
func addInstallations(rows []Row, hub *snapshot.Snapshot) {
	for i := range rows {
		stored := hub.InstallationOf(types.NamespacedName{Namespace: rows[i].Namespace, Name: rows[i].Name})
		if stored == nil {
			continue
		}
		installation := &Installation{
			Phase: stored.Status.Phase, Reason: snapshot.InstallationReason(stored), Since: ptr.Deref(stored.Status.Since, metav1.Time{}).Time,
		}
		for _, request := range stored.Spec.RequestedBy {
			installation.RequestedBy = append(installation.RequestedBy, request.AddOn)
		}
		rows[i].Installation = installation
	}
}

// addEdges adds the edges that are not satisfied, or held. The rows are in the order of Rows.
func addEdges(rows []Row, hub *snapshot.Snapshot) {
	cluster, findings := "", func(string) []evaluation.Finding { return nil }
	for i := range rows {
		if r := &rows[i]; r.Namespace != cluster {
			cluster, findings = r.Namespace, hub.Evaluated(r.Namespace)
		}
		var dependencies, verdicts []string
		for _, finding := range findings(rows[i].Name) {
			if finding.Unsatisfied() || finding.Held() {
				dependencies, verdicts = append(dependencies, cmp.Or(finding.Name(), "-")), append(verdicts, string(finding.Verdict))
			}
		}
		rows[i].dependency, rows[i].verdict = strings.Join(dependencies, ","), strings.Join(verdicts, ",")
	}
}
