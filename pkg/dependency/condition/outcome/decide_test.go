package outcome

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

var (
	earlier = metav1.NewTime(time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC))
	now     = metav1.NewTime(earlier.Add(time.Hour))
)

const (
	isTrue, isFalse, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	requiredFails            = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
)

func edge(verdict evaluation.Verdict) []evaluation.Finding {
	return []evaluation.Finding{{Dependency: &addonv1alpha1.AddonDependency{Name: "base", Type: "Required"}, Verdict: verdict}}
}

func stored(kind string, status metav1.ConditionStatus, reason string) *metav1.Condition {
	return &metav1.Condition{Type: kind, Status: status, Reason: reason, LastTransitionTime: earlier}
}

// The states of the table: findings on edges, states of the gate and of a template that waits, and stored conditions.
var (
	satisfied = Assessment{Acts: true, Findings: edge(evaluation.Satisfied)}
	missing   = Assessment{Acts: true, Findings: edge(evaluation.NotInstalled)}
	ordered   = declaration.Declaration{Ordering: addonv1alpha1.OrderingInstallAndUpgrade}
	failing   = Decide(missing, Stored{}, earlier).Condition("Degraded")
	waiting   = stored("Installable", isFalse, gate.ReasonWaiting)
	held      = stored("Upgradable", isFalse, gate.ReasonWaiting)
)

func (a Assessment) changed(change func(*Assessment)) Assessment {
	change(&a)
	return a
}

func installing(verdict evaluation.Verdict) func(*Assessment) {
	return func(a *Assessment) { a.Registered, a.Installing = ordered, &Installing{Findings: edge(verdict)} }
}

func contradicting(message string, ok bool) func(*Assessment) {
	return func(a *Assessment) { a.Installing.Contradiction = &Contradiction{message, ok} }
}

func upgrading(verdict evaluation.Verdict) func(*Assessment) {
	return func(a *Assessment) {
		a.Registered = ordered
		a.Upgrading = &Upgrading{Upgrade: gate.Upgrade{Template: "v2"}, Findings: edge(verdict)}
	}
}

func TestDecide(t *testing.T) {
	const customized, lease = ocmv1alpha1.HealthCheckModeCustomized, ocmv1alpha1.HealthCheckModeLease
	closed := Stored{GateClosed: true, Gate: addonv1alpha1.GateClosed, Annotated: true}
	waits := Stored{GateClosed: true, Gate: addonv1alpha1.GateClosed, Annotated: true, Degraded: failing, Installable: waiting}
	for name, test := range map[string]struct {
		assessment Assessment
		stored     Stored
		want       string // the conditions, "open", and the mode of the health check
	}{
		"NothingToSay": {Assessment{Acts: true}, Stored{}, ""},
		"Satisfied":    {satisfied, Stored{}, ""},
		"Fails":        {missing, Stored{}, "Degraded=True/RequiredDependencyNotSatisfied"},
		"Recovers":     {satisfied, Stored{Degraded: failing}, "Degraded=False/DependenciesSatisfied"},
		"ReplacesAnotherWriter": {
			missing,
			Stored{Degraded: stored("Degraded", isTrue, "DiskFull")},
			"Degraded=True/RequiredDependencyNotSatisfied ReplacedDegraded=True/DiskFull",
		},
		"ReplacesNothingAnyMore": {
			satisfied,
			Stored{Degraded: failing, Replaced: stored("ReplacedDegraded", isTrue, "DiskFull")},
			"Degraded=False/DependenciesSatisfied ReplacedDegraded=False/NothingReplaced",
		},
		"WithoutLifecycle": {
			missing.changed(installing(evaluation.NotInstalled)).changed(func(a *Assessment) { a.Acts = false }), closed,
			"Degraded=True/RequiredDependencyNotSatisfied",
		},

		"GateWaits": {
			missing.changed(installing(evaluation.NotInstalled)), closed,
			"Degraded=True/RequiredDependencyNotSatisfied Installable=False/WaitingForDependencies",
		},
		"GateOpens": {
			satisfied.changed(installing(evaluation.Satisfied)), waits,
			"Degraded=False/DependenciesSatisfied Installable=True/RequiredDependenciesSatisfied open",
		},
		"GateOpensAfterACrash": {
			satisfied.changed(installing(evaluation.Satisfied)),
			Stored{GateClosed: true, Installable: &metav1.Condition{
				Type: "Installable", Status: isTrue, Reason: gate.ReasonSatisfied, Message: gate.MessageSatisfied, LastTransitionTime: earlier,
			}},
			"open",
		},
		"GateIsHeld":        {satisfied.changed(installing(evaluation.Held)), closed, ""},
		"TemplateNotChosen": {satisfied, closed, ""},
		"TemplateIsMissing": {
			satisfied.changed(installing(evaluation.Satisfied)).changed(func(a *Assessment) { a.Installing.Missing = "v1" }), closed,
			"Installable=False/WaitingForDependencies",
		},
		"OpenedByHand": {
			missing, Stored{Degraded: failing, Installable: waiting, Gate: "open", Annotated: true}, "Installable=True/GateOpened",
		},
		"ConditionIsRemoved": {
			missing.changed(func(a *Assessment) { a.Registered = ordered }),
			Stored{Degraded: failing, Gate: "open", Annotated: true},
			"Installable=True/GateOpened",
		},
		"ConditionIsRemovedWithoutOrder": {missing, Stored{Degraded: failing, Gate: "open", Annotated: true}, ""},
		"GateIsRemoved":                  {missing, Stored{Degraded: failing, Installable: waiting}, "Installable=True/GateOpened"},
		"InstallationBegins": {
			missing, Stored{Degraded: failing, Installable: waiting, Gate: "closed", Annotated: true}, "Installable=True/InstallationBegun",
		},
		"GateIsDeleted": {missing, Stored{Degraded: failing, Installable: waiting, Deleted: true}, ""},
		"Contradicts": {
			satisfied.changed(installing(evaluation.Satisfied)).changed(contradicting("it does", true)),
			closed,
			"Installable=False/Contradiction",
		},
		"ContradictsNoMore": {
			satisfied.changed(installing(evaluation.Satisfied)).changed(contradicting("", true)),
			closed,
			"Installable=True/RequiredDependenciesSatisfied open",
		},
		"ContradictionIsNotKnown": {
			satisfied.changed(installing(evaluation.Satisfied)).changed(contradicting("", false)), closed, "",
		},

		"IsMarked": {
			satisfied.changed(func(a *Assessment) { a.Registered = ordered }), Stored{Running: "v1"}, "Upgradable=True/NothingWaits",
		},
		"NotInstalled": {satisfied.changed(func(a *Assessment) { a.Registered = ordered }), Stored{}, ""},
		"UpgradeWaits": {
			satisfied.changed(upgrading(evaluation.NotInstalled)),
			Stored{Running: "v1", Waiting: "v2", Upgradable: stored("Upgradable", isTrue, "NothingWaits")},
			"Upgradable=False/WaitingForDependencies",
		},
		"UpgradeGoes": {
			satisfied.changed(upgrading(evaluation.Satisfied)),
			Stored{Running: "v1", Waiting: "v2", Upgradable: held},
			"Upgradable=True/RequiredDependenciesSatisfied",
		},
		"AnotherOneWaits": {satisfied.changed(upgrading(evaluation.Satisfied)), Stored{Running: "v1", Waiting: "v3", Upgradable: held}, ""},
		"NotReadYet": {
			satisfied.changed(func(a *Assessment) { a.Registered = ordered }), Stored{Running: "v1", Waiting: "v2", Upgradable: held}, "",
		},
		"TemplateIsForgotten": {
			satisfied.changed(func(a *Assessment) { a.Registered = ordered }),
			Stored{Running: "v1", Upgradable: held},
			"Upgradable=True/NothingWaits",
		},
		"RolledOut": {
			satisfied.changed(upgrading(evaluation.NotInstalled)).changed(func(a *Assessment) { a.Upgrading.RolledOut = true }),
			Stored{Running: "v2", Waiting: "v2", Upgradable: held},
			"Upgradable=True/GateOpened",
		},
		"Dropped": {
			satisfied.changed(upgrading(evaluation.NotInstalled)).changed(func(a *Assessment) { a.Upgrading.Dropped = true }),
			Stored{Running: "v1", Waiting: "v2", Upgradable: held},
			"Upgradable=True/GateOpened",
		},
		"UpgradeOfTheMissed": {
			missing.changed(upgrading(evaluation.NotInstalled)),
			Stored{Running: "v1", Waiting: "v2", Upgradable: stored("Upgradable", isTrue, "NothingWaits")},
			"Degraded=True/RequiredDependencyNotSatisfied Upgradable=False/WaitingForDependencies",
		},

		"BundleIsAvailable": {
			satisfied.changed(func(a *Assessment) { a.Bundle = true }), Stored{}, "Available=True/BundleAvailable " + string(customized),
		},
		"BundleFails": {
			missing.changed(func(a *Assessment) { a.Bundle = true }),
			Stored{Available: stored("Available", isTrue, "BundleAvailable")},
			"Degraded=True/RequiredDependencyNotSatisfied Available=False/RequiredDependencyNotSatisfied " + string(customized),
		},
		"BundleIsLost": {
			satisfied.changed(func(a *Assessment) { a.Bundle, a.Lost = true, true }),
			Stored{Available: stored("Available", unknown, "ManagedClusterLeaseUpdateStopped")},
			string(customized),
		},
		"BundleNoMore": {
			satisfied, Stored{Available: stored("Available", isTrue, "BundleAvailable")}, "Available=Unknown/BundleReleased " + string(lease),
		},
		"BundleNoMoreWhileItFails": {
			missing, formerBundle(failing, stored("Available", isFalse, requiredFails)),
			"Available=False/RequiredDependencyNotSatisfied " + string(lease),
		},
		"BundleNoMoreOnceItRecovers": {
			satisfied, formerBundle(failing, stored("Available", isFalse, requiredFails)),
			"Degraded=False/DependenciesSatisfied Available=Unknown/BundleReleased " + string(lease),
		},
		"BundleNoMoreAfterALoss": {
			satisfied, formerBundle(nil, stored("Available", unknown, "ManagedClusterLeaseUpdateStopped")),
			"Available=Unknown/BundleReleased " + string(lease),
		},
		"BundleNoMoreWhileItIsLost": {
			satisfied.changed(func(a *Assessment) { a.Lost = true }),
			formerBundle(nil, stored("Available", unknown, "ManagedClusterLeaseUpdateStopped")),
			string(customized),
		},
		"BundleWithoutLifecycle": {
			missing.changed(func(a *Assessment) { a.Acts, a.Bundle = false, true }),
			formerBundle(nil, stored("Available", isTrue, "BundleAvailable")),
			"Degraded=True/RequiredDependencyNotSatisfied " + string(customized),
		},
		"ReleasedBundleFails": {
			missing,
			Stored{Available: stored("Available", unknown, "ManagedClusterAddOnLeaseNotFound"), OwnsAvailable: true, HealthCheck: lease},
			"Degraded=True/RequiredDependencyNotSatisfied " + string(lease),
		},
		"BundleIsDeleted": {
			missing.changed(func(a *Assessment) { a.Bundle = true }),
			Stored{Available: stored("Available", isTrue, "BundleAvailable"), Deleted: true},
			"Degraded=True/RequiredDependencyNotSatisfied " + string(customized),
		},
	} {
		t.Run(name, func(t *testing.T) {
			decided := Decide(test.assessment, test.stored, now)
			var got []string
			for _, condition := range decided.Changed {
				got = append(got, condition.Type+"="+string(condition.Status)+"/"+condition.Reason)
			}
			if decided.Open {
				got = append(got, "open")
			}
			if decided.HealthCheck != "" {
				got = append(got, string(decided.HealthCheck))
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if empty := len(decided.Changed) == 0 && !decided.Open; decided.Empty() != empty {
				t.Errorf("empty: %t", decided.Empty())
			}
			if owned := decided.Conditions(test.stored); test.stored.OwnsAvailable &&
				!slices.ContainsFunc(owned, func(kept metav1.Condition) bool { return kept.Type == "Available" }) {
				t.Errorf("server-side apply would remove Available, which addon-manager owns: %+v", owned)
			}
			stored := test.stored.written(decided)
			if second := Decide(test.assessment, stored, now); len(second.Changed) > 0 || second.Open {
				t.Errorf("what was written is not what it has to be: %+v", second.Changed)
			}
		})
	}
}

// Another writer whose messages differ each time gets no write for each.
func TestPostponeReplaced(t *testing.T) {
	foreign := stored("Degraded", isTrue, "DiskFull")
	foreign.Message = "4 of 4"
	kept := stored("ReplacedDegraded", isTrue, "DiskFull")
	kept.Message = "3 of 4"
	decided := Decide(missing, Stored{Degraded: foreign, Replaced: kept}, now)
	if len(decided.Changed) != 2 {
		t.Fatalf("%+v", decided.Changed)
	}
	remaining, first := decided.Postpone(func(desired metav1.Condition) time.Time {
		if desired.Message == failing.Message {
			return now.Time
		}
		return time.Time{}
	})
	if !remaining.Empty() || !first.Equal(now.Time) {
		t.Errorf("%+v at %s", remaining.Changed, first)
	}
}

// formerBundle is an add-on with an Available and a health check that addon-manager has applied.
func formerBundle(degraded, available *metav1.Condition) Stored {
	return Stored{Degraded: degraded, Available: available, OwnsAvailable: true, HealthCheck: ocmv1alpha1.HealthCheckModeCustomized}
}

// written returns the stored state after a decision was written.
func (s Stored) written(d Decision) Stored {
	for _, condition := range d.Changed {
		switch condition.Type {
		case "Degraded":
			s.Degraded = &condition
		case "ReplacedDegraded":
			s.Replaced = &condition
		case "Installable":
			s.Installable = &condition
		case "Upgradable":
			s.Upgradable = &condition
			if condition.Status == isTrue {
				s.Waiting = ""
			}
		case "Available":
			s.Available, s.HealthCheck = &condition, d.HealthCheck
		}
	}
	if d.Open {
		s.GateClosed, s.Gate = false, addonv1alpha1.GateOpen
	}
	return s
}

// One who applies some conditions takes back the others that he has applied before.
func TestConditions(t *testing.T) {
	disk := stored("Degraded", isTrue, "DiskFull")
	available := stored("Available", isTrue, "Healthy")
	fails := stored("Available", isFalse, requiredFails)
	bundled := stored("Available", isTrue, "BundleAvailable")
	opened := stored("Installable", isTrue, gate.ReasonSatisfied)
	for name, test := range map[string]struct {
		stored  Stored
		decided Decision
		want    []string
	}{
		"All": {
			Stored{Degraded: failing, Installable: waiting, Annotated: true, Upgradable: held, Available: available},
			Decision{},
			[]string{"Degraded", "Installable", "Upgradable"},
		},
		"OthersOwn":     {Stored{Degraded: disk, Installable: waiting, Available: available}, Decision{}, nil},
		"Bundle":        {Stored{Available: bundled}, Decision{}, []string{"Available"}},
		"FailingBundle": {Stored{Available: fails}, Decision{HealthCheck: ocmv1alpha1.HealthCheckModeCustomized}, []string{"Available"}},
		"Guarded":       {Stored{Degraded: failing, Available: fails}, Decision{}, []string{"Degraded"}},
		"Changed": {
			Stored{Degraded: failing, Installable: waiting}, Decision{Changed: []metav1.Condition{*opened}}, []string{"Installable", "Degraded"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, condition := range test.decided.Conditions(test.stored) {
				got = append(got, condition.Type)
				if condition.Type == "Installable" && len(test.decided.Changed) > 0 && condition != *opened {
					t.Errorf("what has changed is applied as it was: %+v", condition)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOnlyMessages(t *testing.T) {
	changed := *failing
	changed.Message = "another"
	closed := Stored{GateClosed: true, Degraded: failing, Installable: waiting}
	opened := stored("Installable", isTrue, gate.ReasonSatisfied)
	for name, test := range map[string]struct {
		stored  Stored
		decided Decision
		want    bool
	}{
		"Message":       {closed, Decision{Changed: []metav1.Condition{changed}}, true},
		"BothMessages":  {closed, Decision{Changed: []metav1.Condition{changed, *waiting}}, true},
		"MessageAndNew": {closed, Decision{Changed: []metav1.Condition{changed, *opened}}, false},
		"Opens":         {closed, Decision{Changed: []metav1.Condition{changed}, Open: true}, false},
		"NoGate":        {Stored{Degraded: failing}, Decision{Changed: []metav1.Condition{changed}}, false},
		"First":         {Stored{GateClosed: true}, Decision{Changed: []metav1.Condition{changed}}, false},
		"Nothing":       {closed, Decision{}, false},
	} {
		if got := test.decided.OnlyMessages(test.stored); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestPostpone(t *testing.T) {
	start := now.Time
	decided := Decision{Changed: []metav1.Condition{*failing, *waiting}, Open: true, Because: *waiting}
	for name, test := range map[string]struct {
		waits map[string]time.Time
		want  []string
		open  bool
		first time.Time
	}{
		"Nothing":  {nil, []string{"Degraded", "Installable"}, true, time.Time{}},
		"Degraded": {map[string]time.Time{"Degraded": start}, []string{"Installable"}, true, start},
		"Gate":     {map[string]time.Time{"Installable": start}, []string{"Degraded"}, false, start},
		"Both":     {map[string]time.Time{"Installable": start, "Degraded": start.Add(time.Second)}, nil, false, start},
	} {
		remaining, first := decided.Postpone(func(condition metav1.Condition) time.Time { return test.waits[condition.Type] })
		var got []string
		for _, condition := range remaining.Changed {
			got = append(got, condition.Type)
		}
		if diff := cmp.Diff(test.want, got); diff != "" || remaining.Open != test.open || !first.Equal(test.first) || len(decided.Changed) != 2 {
			t.Errorf("%s: open %t, first %s, %s", name, remaining.Open, first, diff)
		}
	}
}

func TestSameEdges(t *testing.T) {
	assessed := func(names ...string) *Assessment {
		assessment := &Assessment{}
		for _, name := range names {
			assessment.Findings = append(assessment.Findings, evaluation.Finding{Dependency: &addonv1alpha1.AddonDependency{Name: name}})
		}
		return assessment
	}
	for name, test := range map[string]struct {
		previous, current *Assessment
		want              bool
	}{
		"New":           {nil, assessed("b"), false},
		"Same":          {assessed("b"), assessed("b"), true},
		"OtherVerdict":  {&Assessment{Findings: edge(evaluation.Satisfied)}, &Assessment{Findings: edge(evaluation.NotInstalled)}, true},
		"OneMore":       {assessed("b"), assessed("b", "c"), false},
		"NotKnown":      {assessed("b"), &Assessment{Findings: []evaluation.Finding{{Verdict: evaluation.Held}}}, false},
		"NothingBefore": {assessed(), assessed("b"), false},
	} {
		if got := SameEdges(test.previous, test.current); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
