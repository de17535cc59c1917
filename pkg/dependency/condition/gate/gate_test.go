package gate

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func edge(kind addonv1alpha1.DependencyType, verdict evaluation.Verdict, cycle ...string) evaluation.Finding {
	return evaluation.Finding{Dependency: &addonv1alpha1.AddonDependency{Name: "base", Type: kind}, Verdict: verdict, Cycle: cycle}
}

// tunnel is an edge on an API.
var tunnel = addonv1alpha1.AddonDependency{
	Name: "tunnel", API: &addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Group: "example.com", Kind: "Tunnel"}},
}

// due is a finding that the agent has still to decide.
func due(dependency addonv1alpha1.AddonDependency) evaluation.Finding {
	return evaluation.Finding{Dependency: &dependency, Verdict: evaluation.Held, Due: true}
}

func TestDecide(t *testing.T) {
	const required, optional = addonv1alpha1.DependencyTypeRequired, addonv1alpha1.DependencyTypeOptional
	type findings = []evaluation.Finding
	ordered := declaration.Declaration{Ordering: addonv1alpha1.OrderingInstall}
	for name, test := range map[string]struct {
		declared declaration.Declaration
		findings findings
		step     Step
		reason   string
		says     string
	}{
		"NotInstalled": {
			ordered, findings{edge(required, evaluation.NotInstalled)}, Wait, ReasonWaiting, "Required addon 'base' is not installed",
		},
		"NotAvailable": {ordered, findings{edge(required, evaluation.NotAvailable)}, Wait, ReasonWaiting, "'base'"},
		"Requirement": {
			ordered,
			findings{{Requirement: &declaration.Requirement{Name: "requirements.kubernetes"}, Verdict: evaluation.RequirementNotMet}},
			Wait, ReasonWaiting, "",
		},
		"Conflict":       {ordered, findings{edge(addonv1alpha1.DependencyTypeConflicts, evaluation.Conflict)}, Wait, ReasonWaiting, "'base'"},
		"Optional":       {ordered, findings{edge(optional, evaluation.NotInstalled)}, Open, ReasonSatisfied, "stays installed"},
		"OptionalIsHeld": {ordered, findings{edge(optional, evaluation.Held)}, Open, ReasonSatisfied, ""},
		"Waived":         {ordered, findings{edge(required, evaluation.Waived)}, Open, ReasonSatisfied, ""},
		"Tolerated":      {ordered, findings{edge(required, evaluation.Tolerated)}, Open, ReasonSatisfied, ""},
		"NotApplicable":  {ordered, findings{edge(required, evaluation.NotApplicable)}, Open, ReasonSatisfied, ""},
		"Satisfied":      {ordered, findings{edge(required, evaluation.Satisfied)}, Open, ReasonSatisfied, "All Required dependencies"},
		"Nothing":        {ordered, nil, Open, ReasonSatisfied, ""},
		"Held":           {ordered, findings{edge(required, evaluation.Held)}, Stay, "", ""},
		"HeldBeside":     {ordered, findings{edge(required, evaluation.Satisfied), edge(required, evaluation.Held)}, Stay, "", ""},
		"HeldAndMissing": {
			ordered, findings{edge(required, evaluation.Held), edge(required, evaluation.NotInstalled)}, Wait, ReasonWaiting, "not installed",
		},
		"Due": {
			ordered,
			findings{due(tunnel)},
			Wait, ReasonWaiting,
			"Whether API 'Tunnel.example.com' is served is not known yet. (addon-agent has not reported it yet)",
		},
		"VersionDue": {
			ordered,
			findings{due(addonv1alpha1.AddonDependency{Name: "base", Version: ">= 2"})},
			Wait, ReasonWaiting,
			"Whether addon 'base' is installed in version '>= 2' is not known yet. (addon-agent has not reported it yet)",
		},
		"OptionalIsDue": {
			ordered, findings{due(addonv1alpha1.AddonDependency{Name: "x", Type: optional, API: tunnel.API})}, Open, ReasonSatisfied, "",
		},
		"DueAndMissing": {
			ordered,
			findings{due(tunnel), edge(required, evaluation.NotInstalled)},
			Wait, ReasonWaiting,
			"Required addon 'base' is not installed or not available. (not installed); Whether API",
		},
		"DueAndHeld":   {ordered, findings{edge(required, evaluation.Held), due(tunnel)}, Wait, ReasonWaiting, "Whether API"},
		"NotKnownWhat": {ordered, findings{{Verdict: evaluation.Held}}, Stay, "", ""},
		"Cycle": {
			ordered,
			findings{edge(required, evaluation.NotInstalled), edge(required, evaluation.Cycle, "a", "b", "a")},
			Open, ReasonOpened,
			"a → b → a",
		},
		"NotOrdered": {
			declaration.Declaration{}, findings{edge(required, evaluation.NotInstalled)}, Open, ReasonOpened, "ordering: Install",
		},
		"OrderedByNothing": {declaration.Declaration{Ordering: addonv1alpha1.OrderingNone}, nil, Open, ReasonOpened, ""},
		"Invalid":          {declaration.Declaration{Invalid: true}, findings{{Verdict: evaluation.Held}}, Stay, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := Decide(test.declared, test.findings)
			if got.Step != test.step || got.Reason != test.reason || !strings.Contains(got.Message, test.says) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestDecideCreation(t *testing.T) {
	ordered := declaration.Declaration{Ordering: addonv1alpha1.OrderingInstall}
	absent := []evaluation.Finding{{
		Dependency: &addonv1alpha1.AddonDependency{Name: "base", Type: addonv1alpha1.DependencyTypeRequired}, Verdict: evaluation.NotInstalled,
	}}
	for name, test := range map[string]struct {
		declared declaration.Declaration
		created  Creation
		step     Step
		says     string
	}{
		"Satisfied":         {ordered, Creation{Evaluated: true}, Open, MessageSatisfied},
		"Unsatisfied":       {ordered, Creation{Findings: absent, Evaluated: true}, Wait, "Required addon 'base'"},
		"NothingKnown":      {ordered, Creation{Findings: absent}, Stay, ""},
		"NoTemplate":        {ordered, Creation{Missing: "v1", Evaluated: true}, Wait, "AddOnTemplate 'v1' does not exist. Create it, or name"},
		"UnsatisfiedBefore": {ordered, Creation{Findings: absent, Missing: "v1", Evaluated: true}, Wait, "Required addon 'base'"},
		"NotOrdered":        {declaration.Declaration{}, Creation{Missing: "v1", Evaluated: true}, Open, "ordering: Install"},
	} {
		if got := DecideCreation(test.declared, test.created); got.Step != test.step || !strings.Contains(got.Message, test.says) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestCondition(t *testing.T) {
	now, earlier := metav1.NewTime(fixture.Now.Time), metav1.NewTime(fixture.Now.Add(-time.Hour))
	waiting := Decision{Wait, ReasonWaiting, "for base"}
	opened := Decision{Open, ReasonSatisfied, MessageSatisfied}
	stored := func(decision Decision) *metav1.Condition {
		condition, _ := Condition(nil, decision, earlier)
		return &condition
	}
	for name, test := range map[string]struct {
		stored   *metav1.Condition
		decision Decision
		changed  bool
		status   metav1.ConditionStatus
		since    metav1.Time
	}{
		"Begins":         {nil, waiting, true, metav1.ConditionFalse, now},
		"Waits":          {stored(waiting), waiting, false, metav1.ConditionFalse, earlier},
		"AnotherMessage": {stored(waiting), Decision{Wait, ReasonWaiting, "for more"}, true, metav1.ConditionFalse, earlier},
		"Opens":          {stored(waiting), opened, true, metav1.ConditionTrue, now},
		"IsOpen":         {stored(opened), opened, false, metav1.ConditionTrue, earlier},
		"Doubt":          {stored(waiting), Decision{Step: Stay}, false, metav1.ConditionTrue, now},
	} {
		t.Run(name, func(t *testing.T) {
			got, changed := Condition(test.stored, test.decision, now)
			if changed != test.changed || got.Status != test.status || !got.LastTransitionTime.Equal(&test.since) {
				t.Errorf("%t, %+v", changed, got)
			}
		})
	}
	if !Waits(stored(waiting)) || Waits(stored(opened)) || Waits(nil) {
		t.Error("which condition waits")
	}
}

func TestInstalling(t *testing.T) {
	plain := catalog.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Registration("gateway")})
	templated := catalog.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Deployed(fixture.Registration("gateway"))},
		fixture.Template("gateway", "v2", "[{name: base}]"))
	type templates = versions.Templates
	for name, test := range map[string]struct {
		declared        *catalog.Catalog
		installed, want templates
		ok              bool
	}{
		"WithoutTemplates": {plain, templates{}, templates{}, true},
		"NotChosenYet":     {templated, templates{}, templates{}, false},
		"About to be": {
			templated, templates{Next: "v2", RollingOut: "2.0.0", Unknown: true}, templates{Name: "v2", Running: "2.0.0"}, true,
		},
		"RunsBeforeARollout": {templated, templates{Name: "v1", Next: "v2"}, templates{Name: "v1", Next: "v2"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			previous := evaluation.State{AddOns: evaluation.AddOns{{Name: "a"}, {Name: "gateway", Installed: true, Template: test.installed}}}
			got, ok := Installing(test.declared, previous, "gateway")
			if template := got.AddOns.Named("gateway").Template; template != test.want || ok != test.ok {
				t.Errorf("%+v, %t", template, ok)
			}
			if previous.AddOns[1].Template != test.installed {
				t.Error("the state that was given is changed")
			}
		})
	}
	if _, ok := Installing(plain, evaluation.State{}, "absent"); !ok {
		t.Error("an add-on without a state")
	}
}

func TestOnlyMessage(t *testing.T) {
	stored := metav1.Condition{Status: metav1.ConditionFalse, Reason: ReasonWaiting, Message: "for a"}
	message := metav1.Condition{Status: metav1.ConditionFalse, Reason: ReasonWaiting, Message: "for b"}
	for name, test := range map[string]struct {
		closed  bool
		stored  *metav1.Condition
		desired metav1.Condition
		want    bool
	}{
		"AnotherMessage": {true, &stored, message, true},
		"Open":           {false, &stored, message, false},
		"AnotherStatus":  {true, &stored, metav1.Condition{Status: metav1.ConditionTrue, Reason: ReasonWaiting}, false},
		"AnotherReason":  {true, &stored, metav1.Condition{Status: metav1.ConditionFalse, Reason: ReasonOpened}, false},
		"First":          {true, nil, stored, false},
	} {
		if got := OnlyMessage(test.closed, test.stored, test.desired); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
