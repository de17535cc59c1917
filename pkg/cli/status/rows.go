package status

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
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// Row is what is shown of one add-on on one managed cluster.
type Row struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Available and Degraded are the status of the condition, empty where it
	// does not exist.
	Available string `json:"available"`
	Degraded  string `json:"degraded"`
	// Since is the last transition of the condition that Reason and Message come from.
	Since time.Time `json:"since,omitzero"`
	// Reason and Message are those of Degraded when it is True, else those of
	// Available.
	Reason  string `json:"reason"`
	Message string `json:"message"`
	// Waits is the installation or upgrade that waits for dependencies. Its kind is empty without one.
	Waits Waits `json:"waits,omitzero"`
	// Installation is what Interlock has stored of an add-on that it has installed. It is read for wide output, and from files.
	Installation *Installation `json:"installation,omitempty"`
	// dependency and verdict are those of the edges that are not satisfied, found for wide
	// output only.
	dependency, verdict string
}

// Waits is an installation or an upgrade that waits for dependencies.
type Waits struct {
	Kind dependencyv1alpha1.WaitKind `json:"kind"`
	// RunningTemplate is the AddOnTemplate that runs during an upgrade that waits.
	RunningTemplate string `json:"runningTemplate,omitempty"`
	// Template is the AddOnTemplate that waits. An installation may have none.
	Template string `json:"template,omitempty"`
	// Since is when the wait began.
	Since time.Time `json:"since,omitzero"`
	// Message is that of Installable or Upgradable, which names the dependencies.
	Message string `json:"message,omitempty"`
}

// Installation is an add-on that Interlock has installed because others need it.
type Installation struct {
	Phase       dependencyv1alpha1.InstallationPhase `json:"phase"`
	RequestedBy []string                             `json:"requestedBy,omitempty"`
	Since       time.Time                            `json:"since,omitzero"`
	// Reason is why it is in its phase, or what its next step waits for.
	Reason string `json:"reason,omitempty"`
}

// cells returns the installation as columns.
func (i *Installation) cells(now time.Time) []string {
	if i == nil {
		return []string{"", ""}
	}
	phase := string(i.Phase)
	if i.Reason != "" && i.Reason != phase {
		phase += " (" + i.Reason + ")"
	}
	if since := age(i.Since, now); since != "" {
		phase += ", " + since
	}
	return []string{phase, strings.Join(i.RequestedBy, ",")}
}

// Heading names the columns of Cells, WideHeading those of WideCells.
var (
	Heading     = []string{"NAMESPACE", "NAME", "AVAILABLE", "DEGRADED", "SINCE", "REASON", "MESSAGE"}
	WideHeading = []string{"NAMESPACE", "NAME", "AVAILABLE", "DEGRADED", "SINCE", "REASON", "DEPENDENCY", "VERDICT", "MESSAGE"}
)

// Cells returns the row as columns.
func (r Row) Cells(now time.Time) []string {
	return []string{r.Namespace, r.Name, r.Available, r.Degraded, age(r.Since, now), r.Reason, r.Message}
}

// WideCells returns the row as columns, with the edges that are not satisfied.
func (r Row) WideCells(now time.Time) []string {
	return []string{r.Namespace, r.Name, r.Available, r.Degraded, age(r.Since, now), r.Reason, r.dependency, r.verdict, r.Message}
}

// WaitsCells returns the wait as a row of the same columns as Cells.
func (r Row) WaitsCells(now time.Time) []string {
	return []string{r.Namespace, r.Name, "", "", age(r.Waits.Since, now), gate.ReasonWaiting, r.Waits.Message}
}

// age is how long ago a time is; empty for a zero time.
func age(since, now time.Time) string {
	if since.IsZero() {
		return ""
	}
	return duration.HumanDuration(now.Sub(since))
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
	rows := make([]Row, 0, len(addOns))
	for i := range addOns {
		rows = append(rows, row(&addOns[i]))
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return rows
}

func row(addOn *addonv1alpha1.ManagedClusterAddOn) Row {
	r := Row{Namespace: addOn.Namespace, Name: addOn.Name}
	show := func(condition *metav1.Condition) {
		r.Reason, r.Message, r.Since = condition.Reason, condition.Message, condition.LastTransitionTime.UTC()
	}
	if available := fleet.Available(addOn); available != nil {
		r.Available = string(available.Status)
		show(available)
	}
	if degraded := fleet.Degraded(addOn); degraded != nil {
		r.Degraded = string(degraded.Status)
		if degraded.Status == metav1.ConditionTrue {
			show(degraded)
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

// addInstallations adds what Interlock has stored of add-ons that it has installed.
func addInstallations(rows []Row, on *snapshot.Snapshot) {
	for i := range rows {
		stored := on.InstallationOf(types.NamespacedName{Namespace: rows[i].Namespace, Name: rows[i].Name})
		if stored == nil {
			continue
		}
		shown := &Installation{
			Phase: stored.Status.Phase, Reason: snapshot.InstallationReason(stored), Since: ptr.Deref(stored.Status.Since, metav1.Time{}).Time,
		}
		for _, request := range stored.Spec.RequestedBy {
			shown.RequestedBy = append(shown.RequestedBy, request.AddOn)
		}
		rows[i].Installation = shown
	}
}

// explain adds the edges that are not satisfied, or held, to rows in the order of Rows.
func explain(rows []Row, on *snapshot.Snapshot) {
	cluster, findings := "", func(string) []evaluation.Finding { return nil }
	for i := range rows {
		if r := &rows[i]; r.Namespace != cluster {
			cluster, findings = r.Namespace, on.Evaluated(r.Namespace)
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
