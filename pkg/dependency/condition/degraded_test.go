package condition

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func withTime(condition *metav1.Condition, time metav1.Time) *metav1.Condition {
	condition.LastTransitionTime = time
	return condition
}

func TestDegraded(t *testing.T) {
	const (
		isTrue, isFalse = metav1.ConditionTrue, metav1.ConditionFalse

		mustText  = "Required addon 'must' is not installed or not available. (not installed)"
		mayText   = "Optional addon 'may' is not installed or not available. (not installed)"
		laterText = "All Required dependencies are satisfied. Optional ones are not known yet: 'later'."
		tail      = "; also Degraded: DiskFull: 3 of 3 disks"
	)
	var (
		must     = evaluation.Finding{Dependency: fixture.EdgeOn(fixture.Required("must")), Verdict: evaluation.NotInstalled}
		may      = evaluation.Finding{Dependency: fixture.EdgeOn(fixture.Optional("may")), Verdict: evaluation.NotInstalled}
		fine     = evaluation.Finding{Dependency: fixture.EdgeOn(fixture.Required("fine")), Verdict: evaluation.Satisfied}
		held     = evaluation.Finding{Dependency: fixture.EdgeOn(fixture.Required("held")), Verdict: evaluation.Held}
		mayHeld  = evaluation.Finding{Dependency: fixture.EdgeOn(fixture.Optional("later")), Verdict: evaluation.Held}
		unusable = evaluation.Finding{Verdict: evaluation.Held}
		foreign  = fixture.Degraded(isTrue, "DiskFull", "3 of 3 disks")
		healthy  = fixture.Degraded(isFalse, "Healthy", "no failure found")
		oursMust = fixture.Degraded(isTrue, requiredReason, mustText)
		oursMay  = fixture.Degraded(isTrue, optionalReason, mayText)
		oursFine = fixture.Degraded(isFalse, satisfiedReason, satisfiedMessage+".")
	)
	unexplained, explained := must, strings.Replace(mustText, "installed)", "installed: none of its Placements selects this cluster)", 1)
	unexplained.Detail = &evaluation.Detail{Unexplained: true}
	unwitnessed := may
	unwitnessed.Verdict, unwitnessed.Detail = evaluation.Held, &evaluation.Detail{Unwitnessed: true}
	failing := func(name string) evaluation.Finding {
		return evaluation.Finding{Dependency: fixture.EdgeOn(fixture.Optional(name)), Verdict: evaluation.Held}
	}
	type findings = []evaluation.Finding

	cases := map[string]struct {
		reason   string
		stored   *metav1.Condition
		findings findings
		want     *metav1.Condition // nil: nothing is written
	}{
		"NoneRequired": {
			"the condition is new", nil, findings{fine, must}, withTime(fixture.Degraded(isTrue, requiredReason, mustText), fixture.Now),
		},
		"Unexplained": {
			"the condition is new", nil, findings{unexplained}, withTime(fixture.Degraded(isTrue, requiredReason, mustText), fixture.Now),
		},
		"UnexplainedAfterARestart": {
			"what explains it cannot be read yet, and most likely is what is stored",
			fixture.Degraded(isTrue, requiredReason, explained),
			findings{unexplained},
			nil,
		},
		"UnexplainedAndAnother": {
			"the message waits for the explanation", fixture.Degraded(isTrue, requiredReason, explained), findings{unexplained, may}, nil,
		},
		"UnwitnessedAfterARestart": {
			"the leader before knew how long it has been unavailable", fixture.Degraded(isTrue, requiredReason, mustText+"; "+mayText),
			findings{must, unwitnessed},
			nil,
		},
		"UnwitnessedAlone": {
			"another reason does not wait", fixture.Degraded(isTrue, requiredReason, mustText),
			findings{fine, unwitnessed},
			fixture.Degraded(isTrue, optionalReason, strings.Replace(laterText, "later", "may", 1)),
		},
		"UnexplainedOnly": {
			"another reason does not wait", oursMay, findings{unexplained}, fixture.Degraded(isTrue, requiredReason, mustText),
		},
		"NoneOptional": {
			"the condition is new", nil, findings{may, fine}, withTime(fixture.Degraded(isTrue, optionalReason, mayText), fixture.Now),
		},
		"NoneBoth": {
			"Required decides, both are named", nil,
			findings{may, must},
			withTime(fixture.Degraded(isTrue, requiredReason, mustText+"; "+mayText), fixture.Now),
		},
		"NoneSatisfied":      {"no reason of ours to take back", nil, findings{fine}, nil},
		"NoneNoDependencies": {"never written", nil, nil, nil},
		"NoneHeld":           {"nothing is known", nil, findings{held}, nil},
		"NoneHeldAndRequired": {
			"what is held cannot make it better", nil,
			findings{held, must},
			withTime(fixture.Degraded(isTrue, requiredReason, mustText), fixture.Now),
		},
		"NoneHeldAndOptional": {"what is held could make it worse", nil, findings{held, may}, nil},
		"NoneOptionalHeldAndOptional": {
			"certain, whatever becomes of what is held", nil,
			findings{fine, mayHeld, may},
			withTime(fixture.Degraded(isTrue, optionalReason, mayText), fixture.Now),
		},
		"NoneOptionalHeld": {"nothing is known to fail", nil, findings{fine, mayHeld}, nil},
		"RequiredOptionalHeld": {
			"the reason is untrue; whether it is degraded is not known", oursMust,
			findings{fine, mayHeld},
			fixture.Degraded(isTrue, optionalReason, laterText),
		},
		"RequiredManyOptionalHeld": {
			"a bounded list, by name", oursMust,
			findings{failing("g"), failing("f"), failing("e"), failing("d"), failing("c"), failing("b"), failing("a")},
			fixture.Degraded(
				isTrue, optionalReason,
				"All Required dependencies are satisfied. Optional ones are not known yet: 'a', 'b', 'c', 'd', 'e', 2 more.",
			),
		},
		"RequiredOptionalHeldAndOptional": {
			"the reason is untrue, and another one is certain", oursMust,
			findings{mayHeld, may, fine},
			fixture.Degraded(isTrue, optionalReason, mayText),
		},
		"RequiredBothHeld":          {"it may still be true", oursMust, findings{mayHeld, held, may}, nil},
		"RequiredAllHeld":           {"a lost cluster", oursMust, findings{mayHeld, held}, nil},
		"RequiredOtherRequiredHeld": {"it may be true of the one that is held", oursMust, findings{held, fine, may}, nil},
		"RequiredNotApplicable": {
			"what does not apply is known", oursMust,
			findings{{Dependency: fixture.EdgeOn(fixture.Required("must")), Verdict: evaluation.NotApplicable}, mayHeld},
			fixture.Degraded(isTrue, optionalReason, laterText),
		},
		"OptionalHeldAgain": {"decided once", fixture.Degraded(isTrue, optionalReason, laterText), findings{fine, mayHeld}, nil},
		"OptionalKnownAfterHeld": {
			"in the end it is satisfied", fixture.Degraded(isTrue, optionalReason, laterText),
			findings{fine},
			withTime(fixture.Degraded(isFalse, satisfiedReason, satisfiedMessage+"."), fixture.Now),
		},
		"OptionalFailsAfterHeld": {
			"in the end it fails", fixture.Degraded(isTrue, optionalReason, laterText),
			findings{may},
			fixture.Degraded(isTrue, optionalReason, mayText),
		},
		"OptionalHeldOther":    {"the reason may still be true", oursMay, findings{mayHeld}, nil},
		"OptionalHeldAndOther": {"the reason is true; the message waits", oursMay, findings{mayHeld, may}, nil},
		"OptionalRequiredHeld": {"not taken back before all is known", oursMay, findings{held, fine}, nil},
		"SatisfiedOptionalHeldAndMay": {
			"untrue: one fails for certain", oursFine,
			findings{mayHeld, may},
			withTime(fixture.Degraded(isTrue, optionalReason, mayText), fixture.Now),
		},
		"SatisfiedHeldAndMay": {
			"untrue, even if worse may follow", oursFine,
			findings{held, may},
			withTime(fixture.Degraded(isTrue, optionalReason, mayText), fixture.Now),
		},
		"SatisfiedOptionalHeld":   {"may be true", oursFine, findings{mayHeld}, nil},
		"ForeignTrueOptionalHeld": {"not ours to touch", foreign, findings{mayHeld, may}, nil},
		"NoneUnusable":            {"an unusable declaration writes nothing", nil, findings{unusable}, nil},
		"RequiredAgain":           {"nothing changed", oursMust, findings{must, fine}, nil},
		"RequiredToBoth": {
			"the message differs, the status and its time do not", oursMust,
			findings{must, may},
			fixture.Degraded(isTrue, requiredReason, mustText+"; "+mayText),
		},
		"RequiredToOptional": {
			"the reason differs, the status and its time do not", oursMust,
			findings{fine, may},
			fixture.Degraded(isTrue, optionalReason, mayText),
		},
		"RequiredToSatisfied": {
			"taken back, not dropped", oursMust,
			findings{fine},
			withTime(fixture.Degraded(isFalse, satisfiedReason, satisfiedMessage+"."), fixture.Now),
		},
		"RequiredToNone": {
			"a reason left behind is cleared", oursMust, nil,
			withTime(fixture.Degraded(isFalse, satisfiedReason, satisfiedMessage+"."), fixture.Now),
		},
		"RequiredHeld":     {"kept", oursMust, findings{held, fine}, nil},
		"RequiredUnusable": {"the last good verdict stays", oursMust, findings{unusable}, nil},
		"OptionalAgain":    {"nothing changed", oursMay, findings{may}, nil},
		"OptionalToRequired": {
			"the reason differs, the status and its time do not", oursMay,
			findings{must},
			fixture.Degraded(isTrue, requiredReason, mustText),
		},
		"OptionalToSatisfied": {
			"taken back", oursMay, findings{fine}, withTime(fixture.Degraded(isFalse, satisfiedReason, satisfiedMessage+"."), fixture.Now),
		},
		"OptionalToNone":  {"cleared", oursMay, nil, withTime(fixture.Degraded(isFalse, satisfiedReason, satisfiedMessage+"."), fixture.Now)},
		"SatisfiedAgain":  {"nothing changed", oursFine, findings{fine}, nil},
		"SatisfiedToNone": {"cleared already: once, not more", oursFine, nil, nil},
		"SatisfiedToRequired": {
			"a transition", oursFine, findings{must}, withTime(fixture.Degraded(isTrue, requiredReason, mustText), fixture.Now),
		},
		"SatisfiedToOptional": {
			"a transition", oursFine, findings{may}, withTime(fixture.Degraded(isTrue, optionalReason, mayText), fixture.Now),
		},
		"SatisfiedHeld":        {"kept", oursFine, findings{held}, nil},
		"ForeignTrueOptional":  {"not ours to touch", foreign, findings{may}, nil},
		"ForeignTrueSatisfied": {"not ours to touch", foreign, findings{fine}, nil},
		"ForeignTrueNone":      {"never written", foreign, nil, nil},
		"ForeignTrueHeld":      {"nothing is known", foreign, findings{held, may}, nil},
		"ForeignFalseRequired": {
			"a transition; who is well leaves no words", healthy,
			findings{must},
			withTime(fixture.Degraded(isTrue, requiredReason, mustText), fixture.Now),
		},
		"ForeignFalseOptional": {
			"a transition", healthy, findings{may}, withTime(fixture.Degraded(isTrue, optionalReason, mayText), fixture.Now),
		},
		"ForeignFalseSatisfied": {
			"left as it is", healthy, findings{fine}, nil,
		},
		"ForeignFalseNone": {"never written", healthy, nil, nil},
		"ForeignUnknownRequired": {
			"Unknown is no failure to keep", fixture.Degraded(metav1.ConditionUnknown, "Lost", "?"),
			findings{must},
			withTime(fixture.Degraded(isTrue, requiredReason, mustText), fixture.Now),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			previous := tc.stored.DeepCopy()
			got, write := decide(tc.stored, tc.findings, fixture.Now)
			if write != (tc.want != nil) {
				t.Fatalf("%s: write = %t, %+v", tc.reason, write, got)
			}
			want := metav1.Condition{}
			if tc.want != nil {
				want = *tc.want
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(previous, tc.stored); diff != "" {
				t.Errorf("%s: the stored condition is not ours to change: %s", tc.reason, diff)
			}
			if write {
				if second, ok := decide(&got, tc.findings, metav1.Now()); ok {
					t.Errorf("%s: decided again: %+v", tc.reason, second)
				}
			}
		})
	}
}

func TestDegradedStaysInBounds(t *testing.T) {
	var findings []evaluation.Finding
	for i := range 100 {
		findings = append(findings, finding(fixture.Required(label(i)), strings.Repeat("ü", 1000), evaluation.NotInstalled))
	}
	stored := Stored{Degraded: fixture.Degraded(metav1.ConditionTrue, "DiskFull", strings.Repeat("é", MaxMessage))}
	for range 3 {
		desired := Decide(stored, findings, fixture.Now)
		if desired.Degraded == nil {
			break
		}
		got := *desired.Degraded
		if n := utf8.RuneCountInString(got.Message); n > MaxMessage || n < MaxMessage-2000 {
			t.Errorf("%d characters", n)
		}
		if !strings.Contains(got.Message, " more; also Degraded: DiskFull: é") {
			t.Errorf("the words kept stand behind what is cut: %q", got.Message[len(got.Message)-10_000:])
		}
		stored = Stored{Degraded: &got, Replaced: desired.Replaced}
	}
	if desired := Decide(stored, findings, fixture.Now); desired.Degraded != nil || desired.Replaced != nil {
		t.Error("a message at its bound is stable")
	}
}

func TestOwned(t *testing.T) {
	for _, reason := range Reasons {
		if !Owned(fixture.Degraded(metav1.ConditionTrue, reason, "")) {
			t.Errorf("%s is ours", reason)
		}
	}
	if Owned(nil) || Owned(fixture.Degraded(metav1.ConditionTrue, "DiskFull", "")) || Owned(fixture.Degraded(metav1.ConditionTrue, "", "")) {
		t.Error("nothing, somebody else's reason, and no reason are not ours")
	}
}

// FuzzDegraded applies decisions one after the other, like a controller, and checks the invariants of each result.
func FuzzDegraded(f *testing.F) {
	f.Add(uint64(1), "message", "Reason", "addon", "DiskFull", "3 of 3")
	f.Add(uint64(2), "; also Degraded:", ";", "; also Degraded:", "; also Degraded:", "x; also Degraded: y")
	f.Add(uint64(3), strings.Repeat("long ", 9000), foreignMark, " ", requiredReason, "also Degraded: ")
	f.Add(uint64(4), strings.Repeat("ü", 9000), "Reason", "addon", requiredReason, foreignMark+strings.Repeat("é", MaxMessage))
	f.Add(uint64(5), "message", "Reason", "addon", optionalReason, strings.Repeat("é", MaxMessage)+foreignMark+strings.Repeat("long\n", 9000))
	f.Fuzz(func(t *testing.T, seed uint64, message, reason, name, foreignReason, foreignMessage string) {
		r := fixture.Random(seed)
		var stored Stored
		for step := range uint64(6) {
			if r.IntN(3) == 0 {
				stored.Degraded = fixture.Degraded([]metav1.ConditionStatus{"True", "False", "Unknown"}[r.IntN(3)], foreignReason, foreignMessage)
			}
			findings := randomFindings(seed+step, message, reason, name)
			if r.IntN(2) == 0 { // most mixtures have held findings, so leave these out
				findings = withoutHeld(findings)
			}
			desired := Decide(stored, findings, fixture.Now)
			previous := stored
			if desired.Replaced != nil {
				stored.Replaced = desired.Replaced
			}
			if desired.Degraded == nil {
				checkNotUntrue(t, stored.Degraded, findings)
				continue
			}
			stored.Degraded = desired.Degraded
			checkNotUntrue(t, stored.Degraded, findings)
			checkDegraded(t, previous.Degraded, *stored.Degraded, findings)
			if second := Decide(stored, findings, fixture.Now); second.Degraded != nil || second.Replaced != nil {
				t.Fatalf("decided again:\n%+v, then\n%+v", desired, second)
			}
		}
	})
}

// checkNotUntrue fails where a reason of ours stays that is known to be untrue.
func checkNotUntrue(t *testing.T, stored *metav1.Condition, findings []evaluation.Finding) {
	t.Helper()
	blockingMayFail, optionalFails := false, false
	for _, f := range findings {
		blockingMayFail = blockingMayFail || f.Blocks() && (f.Unsatisfied() || f.Verdict == evaluation.Held)
		optionalFails = optionalFails || !f.Blocks() && f.Unsatisfied()
	}
	switch {
	case availability.RequiredFails(stored) && !blockingMayFail:
		t.Fatalf("%s stays although all Required dependencies are satisfied: %+v", stored.Reason, findings)
	case Owned(stored) && stored.Reason == satisfiedReason && optionalFails:
		t.Fatalf("%s stays although a dependency fails: %+v", stored.Reason, findings)
	}
}

func withoutHeld(findings []evaluation.Finding) []evaluation.Finding {
	var kept []evaluation.Finding
	for _, f := range findings {
		if f.Verdict != evaluation.Held {
			kept = append(kept, f)
		}
	}
	return kept
}

func checkDegraded(t *testing.T, stored *metav1.Condition, got metav1.Condition, findings []evaluation.Finding) {
	t.Helper()
	if got.Type != addonv1alpha1.ManagedClusterAddOnConditionDegraded || !Owned(&got) ||
		(got.Status == metav1.ConditionTrue) != (got.Reason != satisfiedReason) {
		t.Fatalf("not a condition of ours: %+v", got)
	}
	if utf8.RuneCountInString(got.Message) > MaxMessage || !startsWith(got, findings) {
		t.Fatalf("%s: %q", got.Reason, got.Message)
	}
	since := fixture.Now
	if stored != nil && stored.Status == got.Status {
		since = stored.LastTransitionTime
	}
	if !got.LastTransitionTime.Equal(&since) {
		t.Fatalf("the time moves with the status: %+v → %+v", stored, got)
	}
}

// startsWith reports whether the message begins with its most important edge.
func startsWith(got metav1.Condition, findings []evaluation.Finding) bool {
	word := firstWord(got, findings)
	return strings.HasPrefix(got.Message, word) ||
		word == string(addonv1alpha1.DependencyTypeOptional) && strings.HasPrefix(got.Message, "All Required dependencies are satisfied. ") ||
		word == string(addonv1alpha1.DependencyTypeRequired) && strings.HasPrefix(got.Message, "Addon '") ||
		word == string(addonv1alpha1.DependencyTypeRequired) && strings.HasPrefix(got.Message, "IfInstalled ")
}

func firstWord(got metav1.Condition, findings []evaluation.Finding) string {
	for _, f := range findings {
		if got.Reason == requiredReason && f.Unsatisfied() && f.Blocks() {
			return string(addonv1alpha1.DependencyTypeRequired)
		}
	}
	if got.Reason == optionalReason {
		return string(addonv1alpha1.DependencyTypeOptional)
	}
	return satisfiedMessage + "."
}

func TestOutdated(t *testing.T) {
	edge := func(made addonv1alpha1.AddonDependency, verdict evaluation.Verdict) evaluation.Finding {
		return evaluation.Finding{Dependency: fixture.EdgeOn(made), Verdict: verdict}
	}
	required := fixture.Degraded(metav1.ConditionTrue, requiredReason, "")
	optional := fixture.Degraded(metav1.ConditionTrue, optionalReason, "")
	mayFails := edge(fixture.Optional("may"), evaluation.NotInstalled)
	for name, test := range map[string]struct {
		stored   *metav1.Condition
		findings []evaluation.Finding
		want     bool
	}{
		"nothing is stored":            {nil, nil, false},
		"all is satisfied":             {required, []evaluation.Finding{edge(fixture.Required("must"), evaluation.Satisfied)}, true},
		"nothing is declared any more": {required, nil, true},
		"it fails":                     {required, []evaluation.Finding{edge(fixture.Required("must"), evaluation.NotInstalled)}, false},
		"it is held":                   {required, []evaluation.Finding{edge(fixture.Required("must"), evaluation.Held)}, false},
		"only an Optional one fails":   {required, []evaluation.Finding{mayFails}, true},
		"an Optional one does":         {optional, []evaluation.Finding{mayFails}, false},
		"the status is False":          {fixture.Degraded(metav1.ConditionFalse, satisfiedReason, ""), nil, false},
		"it is another writer's":       {fixture.Degraded(metav1.ConditionTrue, "DiskFull", ""), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Outdated(test.stored, test.findings); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
