package stability

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
)

// withDecision returns an addon-manager whose decisions are changed.
func withDecision(change func(outcome.Assessment, outcome.Stored, *outcome.Decision)) *manager {
	defect := newManager()
	defect.decide = func(assessment outcome.Assessment, stored outcome.Stored, now metav1.Time) outcome.Decision {
		decision := outcome.Decide(assessment, stored, now)
		decision.Changed = slices.Clone(decision.Changed)
		change(assessment, stored, &decision)
		return decision
	}
	return defect
}

// assessing returns an addon-manager that decides on another assessment.
func assessing(change func(*outcome.Assessment)) *manager {
	defect := newManager()
	defect.decide = func(assessment outcome.Assessment, stored outcome.Stored, now metav1.Time) outcome.Decision {
		change(&assessment)
		return outcome.Decide(assessment, stored, now)
	}
	return defect
}

func dropChange(decision *outcome.Decision, kind string, status metav1.ConditionStatus) {
	decision.Changed = slices.DeleteFunc(decision.Changed, func(c metav1.Condition) bool { return c.Type == kind && c.Status == status })
}

// withoutGateRule returns an admission without the gate rule.
func withoutGateRule() *admission {
	return &admission{rule: func(_, after []byte) ([]byte, error) { return after, nil }}
}

func unconfirmed(manager *manager) *manager {
	manager.confirm = func(outcome.Decision, outcome.Stored, *confirmation) (bool, error) { return true, nil }
	return manager
}

func TestDefectsOfLifecyclesAreFound(t *testing.T) {
	const installable = gate.ConditionInstallable
	rule := func(w Lifecycle) Lifecycle { w.Rule = true; return w }
	static := func(inputs Inputs) Lifecycle { return rule(Lifecycle{Before: inputs, After: inputs}) }
	missing := Inputs{Ordering: addonv1alpha1.OrderingInstall}
	satisfied, loose, lost := missing, missing, missing
	satisfied.Available, loose.Ordering, lost.Lost = true, addonv1alpha1.OrderingNone, true
	held := Inputs{Ordering: addonv1alpha1.OrderingInstallAndUpgrade, Template: v2}
	released, bundled := held, Inputs{Bundle: true, Available: true}
	released.Available = true
	lostBundle := bundled
	lostBundle.Lost = true
	byUser := static(missing)
	byUser.User = opensGate
	opening := withDecision(func(_ outcome.Assessment, stored outcome.Stored, d *outcome.Decision) { d.Open = stored.GateClosed })
	correct := newManager()
	onlyChanged := newManager()
	onlyChanged.conditions = func(d outcome.Decision, _ outcome.Stored) []metav1.Condition { return d.Changed }
	first := newManager()
	first.opensFirst = true
	early := assessing(func(a *outcome.Assessment) {
		if a.Upgrading != nil {
			upgrading := *a.Upgrading
			upgrading.Findings = nil
			a.Upgrading = &upgrading
		}
	})
	holds := static(held)
	holds.Holder = true

	for name, test := range map[string]struct {
		world     Lifecycle
		manager   *manager
		admission *admission
		// want are parts of a problem, in their order.
		want []string
	}{
		"a gate that opens despite a missing dependency": {
			static(missing), opening, nil,
			[]string{"opens the gate although the assessment does not allow it"},
		},
		"a gate that opens on a lost cluster": {
			static(lost), opening, nil,
			[]string{"opens the gate although the assessment does not allow it"},
		},
		"a gate that opens by an old registration": {
			rule(Lifecycle{Before: loose, After: missing}), unconfirmed(newManager()), nil,
			[]string{"opens the gate although the assessment does not allow it", "the inputs change", "addon-manager reconciles"},
		},
		"a gate that opens before its condition": {
			static(satisfied), first, nil, []string{"changes the gate in another way than to open it after its condition"},
		},
		"a gate that opens only together with a change": {
			static(satisfied),
			withDecision(func(_ outcome.Assessment, _ outcome.Stored, d *outcome.Decision) {
				d.Open = d.Open && len(d.Changed) > 0
			}),
			nil,
			[]string{"ends where the gate is closed although nothing keeps it so", "ends elsewhere", "another addon-manager leads"},
		},
		"conditions that are left out": {static(missing), onlyChanged, nil, []string{"removes a condition"}},
		"an add-on that waits behind an open gate": {
			byUser, withDecision(func(_ outcome.Assessment, _ outcome.Stored, d *outcome.Decision) {
				dropChange(d, installable, metav1.ConditionTrue)
			}), nil,
			[]string{"ends where Installable says that the add-on waits, and its gate is not closed", "a user opens the gate"},
		},
		"an add-on without a waiting condition": {
			static(missing), withDecision(func(_ outcome.Assessment, _ outcome.Stored, d *outcome.Decision) {
				dropChange(d, installable, metav1.ConditionFalse)
			}), nil,
			[]string{"ends where Installable does not say that the add-on waits"},
		},
		"a time that moves": {
			static(missing), withDecision(func(_ outcome.Assessment, stored outcome.Stored, d *outcome.Decision) {
				if current := stored.Installable; current != nil && stored.GateClosed && d.Condition(installable) == nil {
					moved := *current
					moved.LastTransitionTime = sentinel
					d.Changed = append(d.Changed, moved)
				}
			}), nil,
			[]string{"never ends", "round", "addon-manager reconciles"},
		},
		"no gate rule": {static(missing), correct, withoutGateRule(), []string{"OCM begins to install an add-on whose gate is closed"}},
		"an AddOnTemplate that the rule lets pass": {
			static(held), correct, withoutGateRule(), []string{"an AddOnTemplate is rolled out that has to wait", "OCM sets the template"},
		},
		"an AddOnTemplate that waits for ever": {
			rule(Lifecycle{Before: held, After: released}),
			withDecision(func(_ outcome.Assessment, stored outcome.Stored, d *outcome.Decision) {
				if stored.Waiting != "" {
					dropChange(d, gate.ConditionUpgradable, metav1.ConditionTrue)
				}
			}), nil,
			[]string{"ends where an AddOnTemplate waits although nothing keeps it waiting"},
		},
		"an AddOnTemplate that goes on too early": {
			static(held), early, nil, []string{"lets an AddOnTemplate go on although the assessment does not allow it"},
		},
		"an AddOnTemplate that admission does not let go on": {
			holds, early, nil, []string{"never ends", "round", "addon-manager reconciles", "OCM sets the template"},
		},
		"a bundle that denies the loss": {
			Lifecycle{Before: lostBundle, After: lostBundle},
			unconfirmed(assessing(func(a *outcome.Assessment) { a.Lost, a.Findings = false, nil })),
			nil,
			[]string{"never ends", "round", "hub checks the add-ons"},
		},
		"a bundle on a cluster that an old copy shows": {
			Lifecycle{Before: bundled, After: lostBundle},
			unconfirmed(newManager()), nil,
			[]string{"ends where Available does not say that the cluster is lost"},
		},
		"a bundle whose health OCM checks": {
			Lifecycle{Before: bundled, After: bundled},
			withDecision(func(_ outcome.Assessment, _ outcome.Stored, d *outcome.Decision) { d.HealthCheck = "" }), nil,
			[]string{"never ends", "round", "registration-agent polls"},
		},
		"a bundle that does not follow": {
			Lifecycle{Before: Inputs{Bundle: true}, After: bundled},
			withDecision(func(_ outcome.Assessment, _ outcome.Stored, d *outcome.Decision) {
				dropChange(d, "Available", metav1.ConditionTrue)
			}), nil,
			[]string{"ends where Available of a bundle is not True"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := test.admission
			if a == nil {
				a = &admission{rule: mutateGated}
			}
			problems := newLifecycleModel(test.world, rulesOf(newTestInterlock(t), test.manager, a)).check().problems
			rest := strings.Join(problems, "")
			t.Log(rest)
			for _, part := range test.want {
				_, after, ok := strings.Cut(rest, part)
				if !ok {
					t.Fatalf("%q is not reported, or not in this order", part)
				}
				rest = after
			}
		})
	}
}
