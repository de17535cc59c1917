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
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/dependency/whatif"
	"open-cluster-management.io/interlock/test/fixture"
)

const (
	onlyUnsatisfied = dependencyv1alpha1.ReportUnsatisfied
	all             = dependencyv1alpha1.ReportAll
)

// managed is a cluster with add-ons. One whose name ends in "!" is not available, and one
// with "~" is not and was written so because a Required dependency of it fails.
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

// spelled has a line for each entry of a report.
func spelled(of *DependencyReport) string {
	if of == nil {
		return ""
	}
	lines := []string{fmt.Sprintf("%d unsatisfied, %d held", of.Summary.Unsatisfied, of.Summary.Held)}
	for _, e := range of.Edges {
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
	for _, p := range of.Pending {
		lines = append(lines, fmt.Sprintf("pending %s>%s %s", p.AddOn, p.Dependency, p.Verdict))
	}
	for _, n := range of.NeededBy {
		lines = append(lines, fmt.Sprintf("%s needed by %s", n.AddOn, strings.Join(n.Dependents, " ")))
	}
	return strings.Join(lines, "\n")
}

func TestReport(t *testing.T) {
	chain := settled(fixture.Registrations("a: b, b: c, c, d: c? nowhere?, e: c")...)
	conditional := fixture.Registration("a", fixture.Gated("b", "never"))
	for name, test := range map[string]struct {
		declared *whatif.Evaluation
		on       whatif.Cluster
		scope    dependencyv1alpha1.ReportScope
		want     string
	}{
		"nothing is unsatisfied": {chain, managed("a b c"), onlyUnsatisfied, ""},
		"nothing is declared":    {chain, managed("c"), all, ""},
		"no add-on is installed": {chain, managed(""), all, ""},
		"all edges": {chain, managed("a b c"), all, `0 unsatisfied, 0 held
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
		"what does not apply is needed by no add-on": {settled(conditional), managed("a b"), all, `0 unsatisfied, 0 held
a>b Required NotApplicable`},
		"an unusable declaration is held": {settled(fixture.Annotated("a", "- name: [")), managed("a"), all, `0 unsatisfied, 1 held
a> Required Held held`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := spelled(EvaluateCluster(test.declared, test.on).Report(test.scope, nil)); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestTheReportSaysWhatIsWantedAndFound(t *testing.T) {
	edge := fixture.Required("b")
	edge.Version = ">= 2.0"
	found := EvaluateCluster(settled(fixture.Registration("a", edge)), managed("a b")).Report(onlyUnsatisfied, nil)
	e := found.Edges[0]
	if e.Wanted != "add-on b >= 2.0" || !strings.HasPrefix(e.Found, "version 1.0 from its ManagedClusterAddOn") {
		t.Errorf("wanted %q, found %q", e.Wanted, e.Found)
	}
}

// A lost cluster keeps what was known, and a report that never was is not made.
func TestHeldEdgesKeepTheirEntries(t *testing.T) {
	chain := settled(fixture.Registrations("a: b, b: c, c")...)
	before := EvaluateCluster(chain, managed("a~ b~ c!"))
	lost := managed("a~ b~ c!")
	lost.Available = metav1.ConditionUnknown
	for name, test := range map[string]struct {
		scope  dependencyv1alpha1.ReportScope
		before *DependencyReport
		want   string
	}{
		"unsatisfied": {onlyUnsatisfied, before.Report(onlyUnsatisfied, nil), `2 unsatisfied, 2 held
a>b Required NotAvailable held since 10:00:00 because b>c NotAvailable Stopped
b>c Required NotAvailable held since 10:00:00 because b>c NotAvailable Stopped
b needed by a
c needed by b`},
		"none before": {onlyUnsatisfied, nil, ""},
		"none before, all": {all, nil, `0 unsatisfied, 2 held
a>b Required Held held
b>c Required Held held
b needed by a
c needed by b`},
		"all": {all, EvaluateCluster(chain, managed("a b c")).Report(all, nil), `0 unsatisfied, 2 held
a>b Required Satisfied held
b>c Required Satisfied held
b needed by a
c needed by b`},
	} {
		t.Run(name, func(t *testing.T) {
			evaluated := EvaluateCluster(chain, lost)
			if !evaluated.KeepsLast() {
				t.Error("nothing is held")
			}
			if got := spelled(evaluated.Report(test.scope, test.before)); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
	if before.KeepsLast() {
		t.Error("held on a cluster that is there")
	}
	t.Run("an explanation that is not read yet", func(t *testing.T) {
		placed := settled(append(fixture.Registrations("a: b"), fixture.Specified(t, "b", `installStrategy: {type: Placements}`))...)
		known, unread := managed("a~"), managed("a~")
		known.Unselected, unread.PlacementsUnread = []string{"b"}, true
		const explained = "not installed: none of its Placements selects this cluster"
		last := EvaluateCluster(placed, known).Report(all, nil)
		again := EvaluateCluster(placed, unread)
		if got := again.Report(all, last); !again.KeepsLast() || last.Edges[0].Found != explained || got.Edges[0].Found != explained {
			t.Errorf("got %q after %q", got.Edges[0].Found, last.Edges[0].Found)
		}
		if got := again.Report(all, nil); got.Edges[0].Found != "not installed" {
			t.Errorf("without a report before: %q", got.Edges[0].Found)
		}
	})
	t.Run("an unusable declaration", func(t *testing.T) {
		broken := settled(append(fixture.Registrations("b: c, c"), fixture.Annotated("a", "- name: ["))...)
		want := "2 unsatisfied, 1 held\nb>c Required NotAvailable since 10:00:00 because b>c NotAvailable Stopped\n" +
			"a>b Required NotAvailable held since 10:00:00 because b>c NotAvailable Stopped\nc needed by b"
		got := spelled(EvaluateCluster(broken, managed("a~ b~ c!")).Report(onlyUnsatisfied, before.Report(onlyUnsatisfied, nil)))
		if got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

func TestPending(t *testing.T) {
	edge := fixture.Required("b")
	edge.Version = ">= 1.0, < 2.0"
	declared := settled(fixture.Registration("a", edge))
	for rollingOut, want := range map[string]string{
		"1.1": "",
		"2.0": "0 unsatisfied, 0 held\npending a>b VersionMismatch",
	} {
		on := managed("a b")
		observed := on.AddOns["b"]
		observed.Template = versions.Templates{Running: "1.0", RollingOut: rollingOut}
		on.AddOns["b"] = observed
		found := EvaluateCluster(declared, on).Report(onlyUnsatisfied, nil)
		if got := spelled(found); got != want {
			t.Errorf("to %s: got\n%s\nwant\n%s", rollingOut, got, want)
		}
		if found != nil && (found.Summary.Pending != 1 || !strings.HasPrefix(found.Pending[0].Found, "version 2.0")) {
			t.Errorf("%+v", found)
		}
	}
	t.Run("a rollout repairs", func(t *testing.T) {
		on := managed("a b")
		observed := on.AddOns["b"]
		observed.Template = versions.Templates{Running: "0.9", RollingOut: "1.0"}
		on.AddOns["b"] = observed
		found := EvaluateCluster(declared, on).Report(onlyUnsatisfied, nil)
		if len(found.Pending) != 1 || found.Pending[0].Verdict != "Satisfied" || found.Pending[0].Found != "" {
			t.Errorf("%+v", found.Pending)
		}
	})
}

// A template that is being rolled out may declare edges that the one before it does not have.
func TestPendingIsWhatTheNextTemplateDeclares(t *testing.T) {
	declared := whatif.New(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Deployed(fixture.Registration("x"))},
		fixture.Template("x", "v1", `[{name: a}]`), fixture.Template("x", "v2", `[{name: b}, {name: c}]`))))
	const want = "0 unsatisfied, 0 held\npending x>b NotInstalled"
	for _, running := range []string{"v1", ""} { // not known where addon-manager started during the rollout
		on := managed("x a c")
		x := on.AddOns["x"]
		x.Template = versions.Templates{Name: running, Next: "v2", Unknown: running == ""}
		on.AddOns["x"] = x
		if got := spelled(EvaluateCluster(declared, on).Report(onlyUnsatisfied, nil)); got != want {
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
	found := EvaluateCluster(settled(addOns...), managed(names.String())).Report(onlyUnsatisfied, nil)
	encoded, err := json.Marshal(found)
	if err != nil {
		t.Fatal(err)
	}
	if len(encoded) > MaxBytes || len(encoded) < MaxBytes/2 {
		t.Errorf("%d bytes", len(encoded))
	}
	left := int(found.Summary.LeftOut)
	if found.Summary.Unsatisfied != 3000 || len(found.Edges)+len(found.NeededBy)+left != 3001 || left == 0 {
		t.Errorf("%+v, %d edges, %d needed", found.Summary, len(found.Edges), len(found.NeededBy))
	}
}
