package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

const (
	onlyUnsatisfied = dependencyv1alpha1.ReportUnsatisfied
	allEdges        = dependencyv1alpha1.ReportAll
)

// managed returns a cluster with add-ons. An add-on whose name ends in "!" is not available. An add-on whose name ends in "~" is
// Degraded because a Required dependency fails.
func managed(addOns string) whatif.Cluster {
	c := whatif.Cluster{AddOns: map[string]evaluation.Observation{}}
	c.Name, c.Now, c.Available, c.Offline = "cluster1", fixture.Now.Time, metav1.ConditionTrue, evaluation.OfflineHold
	for name := range strings.FieldsSeq(addOns) {
		observed := evaluation.Observation{Installed: true, Version: "1.0", Available: fixture.Available(metav1.ConditionTrue, "Running")}
		switch {
		case strings.HasSuffix(name, "!"):
			observed.Available = fixture.Available(metav1.ConditionFalse, "Stopped")
		case strings.HasSuffix(name, "~"):
			observed.Degraded = fixture.Degraded(metav1.ConditionTrue, addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied, "")
		}
		observed.Name = strings.TrimRight(name, "!~")
		c.AddOns[observed.Name] = observed
	}
	return c
}

func settled(addOns ...addonv1alpha1.ClusterManagementAddOn) *whatif.Evaluation {
	return whatif.New(evaluation.New(catalog.New(addOns)))
}

// format returns a line for each entry of a report.
func format(report *DependencyReport) string {
	if report == nil {
		return ""
	}
	lines := []string{fmt.Sprintf("%d unsatisfied, %d held", report.Summary.Unsatisfied, report.Summary.Held)}
	for _, e := range report.Edges {
		line := fmt.Sprintf("%s>%s %s %s", e.AddOn, e.Dependency, e.Type, e.Verdict)
		if e.Held {
			line += " held"
		}
		if e.Since != nil {
			line += " since " + e.Since.Format(time.TimeOnly)
		}
		for _, cause := range e.RootCauses {
			line += fmt.Sprintf(" because %s>%s %s %s", cause.Dependent, cause.Target, cause.Verdict, cause.Reason)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	for _, p := range report.Pending {
		lines = append(lines, fmt.Sprintf("pending %s>%s %s", p.AddOn, p.Dependency, p.Verdict))
	}
	for _, n := range report.NeededBy {
		lines = append(lines, fmt.Sprintf("%s needed by %s", n.AddOn, strings.Join(n.Dependents, " ")))
	}
	return strings.Join(lines, "\n")
}

func TestReport(t *testing.T) {
	chain := settled(fixture.Registrations("a: b, b: c, c, d: c? nowhere?, e: c")...)
	conditional := fixture.Registration("a", fixture.Gated("b", "never"))
	for name, test := range map[string]struct {
		evaluator *whatif.Evaluation
		cluster   whatif.Cluster
		scope     dependencyv1alpha1.ReportScope
		want      string
	}{
		"nothing is unsatisfied": {chain, managed("a b c"), onlyUnsatisfied, ""},
		"nothing is declared":    {chain, managed("c"), allEdges, ""},
		"no add-on is installed": {chain, managed(""), allEdges, ""},
		"all edges": {chain, managed("a b c"), allEdges, `0 unsatisfied, 0 held
a>b Required Satisfied
b>c Required Satisfied
b needed by a
c needed by b`},
		"a chain has the root cause at its end": {chain, managed("a~ b~ c!"), onlyUnsatisfied, `2 unsatisfied, 0 held
a>b Required NotAvailable since 10:00:00 because b>c NotAvailable Stopped
b>c Required NotAvailable since 10:00:00 because b>c NotAvailable Stopped
b needed by a
c needed by b`},
		"conditions that are still to be written have no time": {chain, managed("a b c!"), onlyUnsatisfied, `2 unsatisfied, 0 held
a>b Required NotAvailable because b>c NotAvailable Stopped
b>c Required NotAvailable since 10:00:00 because b>c NotAvailable Stopped
b needed by a
c needed by b`},
		"what keeps an add-on from working comes first": {chain, managed("d e c!"), onlyUnsatisfied, `3 unsatisfied, 0 held
e>c Required NotAvailable since 10:00:00 because e>c NotAvailable Stopped
d>c Optional NotAvailable since 10:00:00 because d>c NotAvailable Stopped
d>nowhere Optional NotInstalled because d>nowhere NotInstalled
c needed by d e
nowhere needed by d`},
		"not installed, since the dependent is degraded": {chain, managed("b~"), onlyUnsatisfied, `1 unsatisfied, 0 held
b>c Required NotInstalled since 10:00:00 because b>c NotInstalled
c needed by b`},
		"what does not apply is needed by no add-on": {settled(conditional), managed("a b"), allEdges, `0 unsatisfied, 0 held
a>b Required NotApplicable`},
		"an unusable declaration is held": {settled(fixture.Annotated("a", "- name: [")), managed("a"), allEdges, `0 unsatisfied, 1 held
a> Required Held held`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := format(EvaluateCluster(test.evaluator, test.cluster).Report(test.scope, nil)); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestTheReportSaysWhatIsWantedAndFound(t *testing.T) {
	edge := fixture.Required("b")
	edge.Version = ">= 2.0"
	report := EvaluateCluster(settled(fixture.Registration("a", edge)), managed("a b")).Report(onlyUnsatisfied, nil)
	e := report.Edges[0]
	if e.Wanted != "add-on b >= 2.0" || !strings.HasPrefix(e.Found, "version 1.0 from its ManagedClusterAddOn") {
		t.Errorf("wanted %q, found %q", e.Wanted, e.Found)
	}
}

// A lost cluster keeps the entries of its stored report. Without one, it gets none.
func TestHeldEdgesKeepTheirEntries(t *testing.T) {
	chain := settled(fixture.Registrations("a: b, b: c, c")...)
	reachable := EvaluateCluster(chain, managed("a~ b~ c!"))
	lost := managed("a~ b~ c!")
	lost.Available = metav1.ConditionUnknown
	for name, test := range map[string]struct {
		scope  dependencyv1alpha1.ReportScope
		stored *DependencyReport
		want   string
	}{
		"unsatisfied": {onlyUnsatisfied, reachable.Report(onlyUnsatisfied, nil), `2 unsatisfied, 2 held
a>b Required NotAvailable held since 10:00:00 because b>c NotAvailable Stopped
b>c Required NotAvailable held since 10:00:00 because b>c NotAvailable Stopped
b needed by a
c needed by b`},
		"none before": {onlyUnsatisfied, nil, ""},
		"none before, all": {allEdges, nil, `0 unsatisfied, 2 held
a>b Required Held held
b>c Required Held held
b needed by a
c needed by b`},
		"all": {allEdges, EvaluateCluster(chain, managed("a b c")).Report(allEdges, nil), `0 unsatisfied, 2 held
a>b Required Satisfied held
b>c Required Satisfied held
b needed by a
c needed by b`},
	} {
		t.Run(name, func(t *testing.T) {
			evaluatedCluster := EvaluateCluster(chain, lost)
			if !evaluatedCluster.KeepsLast() {
				t.Error("nothing is held")
			}
			if got := format(evaluatedCluster.Report(test.scope, test.stored)); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
	if reachable.KeepsLast() {
		t.Error("held on a cluster that is there")
	}
	t.Run("an explanation that is not read yet", func(t *testing.T) {
		placed := settled(append(fixture.Registrations("a: b"), fixture.Specified(t, "b", `installStrategy: {type: Placements}`))...)
		explainable, unread := managed("a~"), managed("a~")
		explainable.Unselected, unread.PlacementsUnread = []string{"b"}, true
		const explained = "not installed: none of its Placements selects this cluster"
		last := EvaluateCluster(placed, explainable).Report(allEdges, nil)
		next := EvaluateCluster(placed, unread)
		if got := next.Report(allEdges, last); !next.KeepsLast() || last.Edges[0].Found != explained || got.Edges[0].Found != explained {
			t.Errorf("got %q after %q", got.Edges[0].Found, last.Edges[0].Found)
		}
		if got := next.Report(allEdges, nil); got.Edges[0].Found != "not installed" {
			t.Errorf("without a report before: %q", got.Edges[0].Found)
		}
	})
	t.Run("an unusable declaration", func(t *testing.T) {
		broken := settled(append(fixture.Registrations("b: c, c"), fixture.Annotated("a", "- name: ["))...)
		want := "2 unsatisfied, 1 held\nb>c Required NotAvailable since 10:00:00 because b>c NotAvailable Stopped\n" +
			"a>b Required NotAvailable held since 10:00:00 because b>c NotAvailable Stopped\nc needed by b"
		got := format(EvaluateCluster(broken, managed("a~ b~ c!")).Report(onlyUnsatisfied, reachable.Report(onlyUnsatisfied, nil)))
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestPending(t *testing.T) {
	edge := fixture.Required("b")
	edge.Version = ">= 1.0, < 2.0"
	evaluator := settled(fixture.Registration("a", edge))
	for rollingOut, want := range map[string]string{
		"1.1": "",
		"2.0": "0 unsatisfied, 0 held\npending a>b VersionMismatch",
	} {
		cluster := managed("a b")
		observed := cluster.AddOns["b"]
		observed.Template = versions.Templates{Running: "1.0", RollingOut: rollingOut}
		cluster.AddOns["b"] = observed
		report := EvaluateCluster(evaluator, cluster).Report(onlyUnsatisfied, nil)
		if got := format(report); got != want {
			t.Errorf("to %s: got\n%s\nwant\n%s", rollingOut, got, want)
		}
		if report != nil && (report.Summary.Pending != 1 || !strings.HasPrefix(report.Pending[0].Found, "version 2.0")) {
			t.Errorf("%+v", report)
		}
	}
	t.Run("a rollout repairs", func(t *testing.T) {
		cluster := managed("a b")
		observed := cluster.AddOns["b"]
		observed.Template = versions.Templates{Running: "0.9", RollingOut: "1.0"}
		cluster.AddOns["b"] = observed
		report := EvaluateCluster(evaluator, cluster).Report(onlyUnsatisfied, nil)
		if len(report.Pending) != 1 || report.Pending[0].Verdict != "Satisfied" || report.Pending[0].Found != "" {
			t.Errorf("%+v", report.Pending)
		}
	})
}

// A template that is being rolled out may declare edges that the one before it does not have.
func TestPendingIsWhatTheNextTemplateDeclares(t *testing.T) {
	evaluator := whatif.New(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Deployed(fixture.Registration("x"))},
		fixture.Template("x", "v1", `[{name: a}]`), fixture.Template("x", "v2", `[{name: b}, {name: c}]`))))
	const want = "0 unsatisfied, 0 held\npending x>b NotInstalled"
	for _, running := range []string{"v1", ""} { // not known where addon-manager started during the rollout
		cluster := managed("x a c")
		x := cluster.AddOns["x"]
		x.Template = versions.Templates{Name: running, Next: "v2", Unknown: running == ""}
		cluster.AddOns["x"] = x
		if got := format(EvaluateCluster(evaluator, cluster).Report(onlyUnsatisfied, nil)); got != want {
			t.Errorf("%q runs: got\n%s\nwant\n%s", running, got, want)
		}
	}
}

func TestAReportIsBounded(t *testing.T) {
	var addOns []addonv1alpha1.ClusterManagementAddOn
	names := strings.Builder{}
	for i := range 3000 {
		name := fmt.Sprintf("dependent-%04d", i)
		addOns = append(addOns, fixture.Registration(name, fixture.Required(strings.Repeat("x", 200))))
		names.WriteString(name + " ")
	}
	report := EvaluateCluster(settled(addOns...), managed(names.String())).Report(onlyUnsatisfied, nil)
	encoded, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if len(encoded) > MaxBytes || len(encoded) < MaxBytes/2 {
		t.Errorf("%d bytes", len(encoded))
	}
	leftOut := int(report.Summary.LeftOut)
	if report.Summary.Unsatisfied != 3000 || len(report.Edges)+len(report.NeededBy)+leftOut != 3001 || leftOut == 0 {
		t.Errorf("%+v, %d edges, %d needed", report.Summary, len(report.Edges), len(report.NeededBy))
	}
}
