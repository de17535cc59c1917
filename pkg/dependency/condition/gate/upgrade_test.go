package gate

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

var (
	next            = Upgrade{Template: "gateway-2", Version: "2.0.0"}
	upgradesOrdered = declaration.Declaration{Ordering: addonv1alpha1.OrderingInstallAndUpgrade}
)

func TestDecideUpgrade(t *testing.T) {
	const required, optional = addonv1alpha1.DependencyTypeRequired, addonv1alpha1.DependencyTypeOptional
	type findings = []evaluation.Finding
	missing := findings{edge(required, evaluation.NotInstalled)}
	for name, test := range map[string]struct {
		declared declaration.Declaration
		findings findings
		step     Step
		reason   string
		says     string
	}{
		"NotInstalled": {
			upgradesOrdered, missing, Wait, ReasonWaiting, "AddOnTemplate 'gateway-2' (version 2.0.0) waits: Required addon 'base' is not installed",
		},
		"Conflict": {
			upgradesOrdered, findings{edge(addonv1alpha1.DependencyTypeConflicts, evaluation.Conflict)}, Wait, ReasonWaiting, "'base'",
		},
		"Satisfied": {
			upgradesOrdered,
			findings{edge(required, evaluation.Satisfied)},
			Open, ReasonSatisfied,
			"All that AddOnTemplate 'gateway-2' (version 2.0.0)",
		},
		"Optional": {upgradesOrdered, findings{edge(optional, evaluation.NotInstalled)}, Open, ReasonSatisfied, "requires is satisfied"},
		"Waived":   {upgradesOrdered, findings{edge(required, evaluation.Waived)}, Open, ReasonSatisfied, ""},
		"Nothing":  {upgradesOrdered, nil, Open, ReasonSatisfied, ""},
		"Held":     {upgradesOrdered, findings{edge(required, evaluation.Held)}, Stay, "", ""},
		"Due": {
			upgradesOrdered,
			findings{due(tunnel)},
			Wait, ReasonWaiting,
			"AddOnTemplate 'gateway-2' (version 2.0.0) waits: Whether API 'Tunnel.example.com' is served is not known yet.",
		},
		"Cycle":      {upgradesOrdered, findings{edge(required, evaluation.Cycle, "a", "b", "a")}, Open, ReasonOpened, "a → b → a"},
		"Invalid":    {declaration.Declaration{Invalid: true}, missing, Stay, "", ""},
		"NotOrdered": {declaration.Declaration{}, missing, Open, ReasonOpened, "ordering: InstallAndUpgrade"},
		"OnlyInstalling": {
			declaration.Declaration{Ordering: addonv1alpha1.OrderingInstall}, missing, Open, ReasonOpened, "ordering: InstallAndUpgrade",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := DecideUpgrade(test.declared, test.findings, next)
			if got.Step != test.step || got.Reason != test.reason || !strings.Contains(got.Message, test.says) {
				t.Errorf("%+v", got)
			}
			held := ""
			if test.step == Wait {
				held = next.Template
			}
			stored, _ := UpgradeCondition(nil, got, fixture.Now)
			if waits := WaitingTemplate(&stored, []ocmv1alpha1.ObjectReference{Related(next.Template)}); waits != held {
				t.Errorf("%q is held by %+v", waits, stored)
			}
		})
	}
	if !Ordered(upgradesOrdered) || OrdersUpgrades(declaration.Declaration{Ordering: addonv1alpha1.OrderingInstallAndUpgrade, Invalid: true}) {
		t.Error("what is ordered")
	}
}

func TestWaitingTemplate(t *testing.T) {
	upgradable := func(status metav1.ConditionStatus, reason string) *metav1.Condition {
		return &metav1.Condition{Type: ConditionUpgradable, Status: status, Reason: reason, Message: "in any words"}
	}
	type objects = []ocmv1alpha1.ObjectReference
	operator := ocmv1alpha1.ObjectReference{Group: "apps", Resource: "deployments", Namespace: "ns", Name: "a"}
	ofNamespace := Related("a-2")
	ofNamespace.Namespace = "ns"
	for name, test := range map[string]struct {
		stored  *metav1.Condition
		related objects
		want    string
	}{
		"None":           {nil, objects{Related("a-2")}, ""},
		"NothingWaits":   {upgradable(metav1.ConditionTrue, ReasonNothingWaits), nil, ""},
		"Opened":         {upgradable(metav1.ConditionTrue, ReasonOpened), objects{Related("a-2")}, ""},
		"Waits":          {upgradable(metav1.ConditionFalse, ReasonWaiting), objects{Related("a-2")}, "a-2"},
		"BehindOthers":   {upgradable(metav1.ConditionFalse, ReasonWaiting), objects{operator, Related("a-2")}, "a-2"},
		"OfAnother":      {upgradable(metav1.ConditionFalse, "Mine"), objects{Related("a-2")}, ""},
		"NothingRelated": {upgradable(metav1.ConditionFalse, ReasonWaiting), nil, ""},
		"OnlyOthers":     {upgradable(metav1.ConditionFalse, ReasonWaiting), objects{operator, ofNamespace}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := WaitingTemplate(test.stored, test.related); got != test.want {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestUpgradeCondition(t *testing.T) {
	earlier := metav1.NewTime(fixture.Now.Add(-time.Hour))
	stored, changed := UpgradeCondition(nil, NothingWaits, earlier)
	if !changed || stored.Type != "Upgradable" || stored.Status != metav1.ConditionTrue {
		t.Fatalf("%+v", stored)
	}
	if _, changed := UpgradeCondition(&stored, Decision{Step: Stay}, fixture.Now); changed {
		t.Error("changed although nothing is known")
	}
	if desired, changed := UpgradeCondition(&stored, next.Opened(), fixture.Now); !changed || !desired.LastTransitionTime.Equal(&earlier) {
		t.Errorf("%t, %+v", changed, desired)
	}
}

func TestUpgrading(t *testing.T) {
	previous := evaluation.State{AddOns: evaluation.AddOns{
		{Name: "gateway", Template: versions.Templates{Name: "gateway-1", Running: "1.0.0"}},
	}}
	got := Upgrading(previous, "gateway", next)
	if template := got.AddOns.Named("gateway").Template; template != (versions.Templates{Name: "gateway-2", Running: "2.0.0"}) {
		t.Errorf("%+v", template)
	}
	if previous.AddOns[0].Template.Name != "gateway-1" {
		t.Error("the state that was given is changed")
	}
	Upgrading(evaluation.State{}, "gateway", next)
	if (evaluation.State{}).AddOns.Named("gateway").Template != (versions.Templates{}) {
		t.Error("what is shared by all states is changed")
	}
}

func TestATemplateThatDoesNotExistWaits(t *testing.T) {
	absent := Upgrade{Template: "v2", Missing: true}
	if got := DecideUpgrade(upgradesOrdered, nil, absent); got.Step != Wait || got.Reason != ReasonWaiting ||
		got.Message != "AddOnTemplate 'v2' waits: it does not exist. Create it, or name another one." {
		t.Errorf("%+v", got)
	}
	if got := DecideUpgrade(declaration.Declaration{}, nil, absent); got.Step != Open {
		t.Errorf("without ordering: %+v", got)
	}
}

// FuzzUpgrade finds no version and no message that makes the message of the condition too long.
func FuzzUpgrade(f *testing.F) {
	f.Add("gateway-2", "2.0.0", "needs 'this'")
	f.Add("a", "' waits: '\n", "")
	f.Add("a.b-c", strings.Repeat("9", 1000), strings.Repeat("x", condition.MaxMessage))
	f.Fuzz(func(t *testing.T, template, version, message string) {
		if !utf8.ValidString(template+version+message) || len(template) > 253 {
			t.Skip("the API server takes no such name")
		}
		finding := edge(addonv1alpha1.DependencyTypeRequired, evaluation.NotInstalled)
		finding.Dependency.Message = message
		decision := DecideUpgrade(upgradesOrdered, []evaluation.Finding{finding}, Upgrade{Template: template, Version: version})
		stored, _ := UpgradeCondition(nil, decision, fixture.Now)
		if !Waits(&stored) || utf8.RuneCountInString(stored.Message) > condition.MaxMessage {
			t.Errorf("%d characters", utf8.RuneCountInString(stored.Message))
		}
	})
}
