package dependency

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func degraded(status metav1.ConditionStatus, reason, message string) *metav1.Condition {
	return &metav1.Condition{
		Type: ConditionDegraded, Status: status, Reason: reason, Message: message, LastTransitionTime: earlier,
	}
}

func at(condition *metav1.Condition, time metav1.Time) *metav1.Condition {
	condition.LastTransitionTime = time
	return condition
}

func TestDegraded(t *testing.T) {
	const (
		yes, no = metav1.ConditionTrue, metav1.ConditionFalse

		mustText  = "Required addon 'must' is not installed or not available. (not installed)"
		mayText   = "Optional addon 'may' is not installed or not available. (not installed)"
		laterText = "All Required dependencies are satisfied. Optional ones are not known yet: 'later'."
		tail      = "; also Degraded: DiskFull: 3 of 3 disks"
	)
	var (
		must     = Finding{Dependency: edgeOn(required("must")), Verdict: NotInstalled}
		may      = Finding{Dependency: edgeOn(optional("may")), Verdict: NotInstalled}
		fine     = Finding{Dependency: edgeOn(required("fine")), Verdict: Satisfied}
		held     = Finding{Dependency: edgeOn(required("held")), Verdict: Held}
		mayHeld  = Finding{Dependency: edgeOn(optional("later")), Verdict: Held}
		unusable = Finding{Dependency: &noDependency, Verdict: Held}
		foreign  = degraded(yes, "DiskFull", "3 of 3 disks")
		healthy  = degraded(no, "Healthy", "no failure found")
		oursMust = degraded(yes, requiredReason, mustText)
		oursMay  = degraded(yes, optionalReason, mayText)
		oursFine = degraded(no, satisfiedReason, satisfiedMessage)
	)
	other := func(name string) Finding { return Finding{Dependency: edgeOn(optional(name)), Verdict: Held} }
	type findings = []Finding

	cases := map[string]struct {
		reason   string
		stored   *metav1.Condition
		findings findings
		want     *metav1.Condition // nil: nothing is written
	}{
		"NoneRequired":        {"the condition is new", nil, findings{fine, must}, at(degraded(yes, requiredReason, mustText), now)},
		"NoneOptional":        {"the condition is new", nil, findings{may, fine}, at(degraded(yes, optionalReason, mayText), now)},
		"NoneBoth":            {"Required decides, both are named", nil, findings{may, must}, at(degraded(yes, requiredReason, mustText+"; "+mayText), now)},
		"NoneSatisfied":       {"no reason of ours to take back", nil, findings{fine}, nil},
		"NoneNoDependencies":  {"never written", nil, nil, nil},
		"NoneHeld":            {"nothing is known", nil, findings{held}, nil},
		"NoneHeldAndRequired": {"what is held cannot make it better", nil, findings{held, must}, at(degraded(yes, requiredReason, mustText), now)},
		"NoneHeldAndOptional": {"what is held could make it worse", nil, findings{held, may}, nil},
		"NoneOptionalHeldAndOptional": {
			"certain, whatever becomes of what is held", nil,
			findings{fine, mayHeld, may},
			at(degraded(yes, optionalReason, mayText), now),
		},
		"NoneOptionalHeld": {"nothing is known to fail", nil, findings{fine, mayHeld}, nil},
		"RequiredOptionalHeld": {
			"the reason is untrue; whether it is degraded is not known", oursMust,
			findings{fine, mayHeld},
			degraded(yes, optionalReason, laterText),
		},
		"RequiredManyOptionalHeld": {
			"a bounded list, by name", oursMust,
			findings{other("g"), other("f"), other("e"), other("d"), other("c"), other("b"), other("a")},
			degraded(yes, optionalReason, "All Required dependencies are satisfied. Optional ones are not known yet: 'a', 'b', 'c', 'd', 'e', 2 more."),
		},
		"RequiredOptionalHeldAndOptional": {
			"the reason is untrue, and another one is certain", oursMust,
			findings{mayHeld, may, fine},
			degraded(yes, optionalReason, mayText),
		},
		"RequiredBothHeld":            {"it may still be true", oursMust, findings{mayHeld, held, may}, nil},
		"RequiredAllHeld":             {"a lost cluster", oursMust, findings{mayHeld, held}, nil},
		"RequiredOtherRequiredHeld":   {"it may be true of the one that is held", oursMust, findings{held, fine, may}, nil},
		"RequiredNotApplicable":       {"what does not apply is known", oursMust, findings{{Dependency: edgeOn(required("must")), Verdict: NotApplicable}, mayHeld}, degraded(yes, optionalReason, laterText)},
		"RequiredTailOptionalHeld":    {"the words of the other writer are kept", degraded(yes, requiredReason, mustText+tail), findings{mayHeld}, degraded(yes, optionalReason, laterText+tail)},
		"OptionalHeldAgain":           {"decided once", degraded(yes, optionalReason, laterText), findings{fine, mayHeld}, nil},
		"OptionalKnownAfterHeld":      {"in the end it is satisfied", degraded(yes, optionalReason, laterText), findings{fine}, at(degraded(no, satisfiedReason, satisfiedMessage), now)},
		"OptionalFailsAfterHeld":      {"in the end it fails", degraded(yes, optionalReason, laterText), findings{may}, degraded(yes, optionalReason, mayText)},
		"OptionalHeldOther":           {"the reason may still be true", oursMay, findings{mayHeld}, nil},
		"OptionalHeldAndOther":        {"the reason is true; the message waits", oursMay, findings{mayHeld, may}, nil},
		"OptionalRequiredHeld":        {"not taken back before all is known", oursMay, findings{held, fine}, nil},
		"SatisfiedOptionalHeldAndMay": {"untrue: one fails for certain", oursFine, findings{mayHeld, may}, at(degraded(yes, optionalReason, mayText), now)},
		"SatisfiedHeldAndMay":         {"untrue, even if worse may follow", oursFine, findings{held, may}, at(degraded(yes, optionalReason, mayText), now)},
		"SatisfiedOptionalHeld":       {"may be true", oursFine, findings{mayHeld}, nil},
		"ForeignTrueOptionalHeld":     {"not ours to touch", foreign, findings{mayHeld, may}, nil},
		"NoneUnusable":                {"an unusable declaration writes nothing", nil, findings{unusable}, nil},
		"RequiredAgain":               {"nothing changed", oursMust, findings{must, fine}, nil},
		"RequiredToBoth":              {"the message differs, the status and its time do not", oursMust, findings{must, may}, degraded(yes, requiredReason, mustText+"; "+mayText)},
		"RequiredToOptional":          {"the reason differs, the status and its time do not", oursMust, findings{fine, may}, degraded(yes, optionalReason, mayText)},
		"RequiredToSatisfied":         {"taken back, not dropped", oursMust, findings{fine}, at(degraded(no, satisfiedReason, satisfiedMessage), now)},
		"RequiredToNone":              {"a reason left behind is cleared", oursMust, nil, at(degraded(no, satisfiedReason, satisfiedMessage), now)},
		"RequiredHeld":                {"kept", oursMust, findings{held, fine}, nil},
		"RequiredUnusable":            {"the last good verdict stays", oursMust, findings{unusable}, nil},
		"OptionalAgain":               {"nothing changed", oursMay, findings{may}, nil},
		"OptionalToRequired":          {"the reason differs, the status and its time do not", oursMay, findings{must}, degraded(yes, requiredReason, mustText)},
		"OptionalToSatisfied":         {"taken back", oursMay, findings{fine}, at(degraded(no, satisfiedReason, satisfiedMessage), now)},
		"OptionalToNone":              {"cleared", oursMay, nil, at(degraded(no, satisfiedReason, satisfiedMessage), now)},
		"SatisfiedAgain":              {"nothing changed", oursFine, findings{fine}, nil},
		"SatisfiedToNone":             {"cleared already: once, not more", oursFine, nil, nil},
		"SatisfiedToRequired":         {"a transition", oursFine, findings{must}, at(degraded(yes, requiredReason, mustText), now)},
		"SatisfiedToOptional":         {"a transition", oursFine, findings{may}, at(degraded(yes, optionalReason, mayText), now)},
		"SatisfiedHeld":               {"kept", oursFine, findings{held}, nil},
		"ForeignTrueRequired":         {"overwritten, its words kept; the status was True before", foreign, findings{must}, degraded(yes, requiredReason, mustText+tail)},
		"ForeignTrueOptional":         {"not ours to touch", foreign, findings{may}, nil},
		"ForeignTrueSatisfied":        {"not ours to touch", foreign, findings{fine}, nil},
		"ForeignTrueNone":             {"never written", foreign, nil, nil},
		"ForeignTrueHeld":             {"nothing is known", foreign, findings{held, may}, nil},
		"ForeignFalseRequired":        {"a transition; who is well leaves no words", healthy, findings{must}, at(degraded(yes, requiredReason, mustText), now)},
		"ForeignFalseOptional":        {"a transition", healthy, findings{may}, at(degraded(yes, optionalReason, mayText), now)},
		"ForeignFalseSatisfied": {
			"left as it is", healthy, findings{fine}, nil,
		},
		"ForeignFalseNone": {"never written", healthy, nil, nil},
		"ForeignUnknownRequired": {
			"Unknown is no failure to keep", degraded(metav1.ConditionUnknown, "Lost", "?"),
			findings{must},
			at(degraded(yes, requiredReason, mustText), now),
		},
		"ForeignWithoutMessage": {
			"the reason alone is kept", degraded(yes, "DiskFull", ""),
			findings{must},
			degraded(yes, requiredReason, mustText+"; also Degraded: DiskFull"),
		},
		"ForeignWithMark": {
			"somebody else's mark is not ours", degraded(yes, "X", "m; also Degraded: y\nz"),
			findings{must},
			degraded(yes, requiredReason, mustText+"; also Degraded: X: m, also Degraded: y z"),
		},
		"TailAgain":       {"kept once", degraded(yes, requiredReason, mustText+tail), findings{must}, nil},
		"TailAndMore":     {"it stays at the end", degraded(yes, requiredReason, mustText+tail), findings{must, may}, degraded(yes, requiredReason, mustText+"; "+mayText+tail)},
		"TailToOptional":  {"the words outlive a change of our reason", degraded(yes, requiredReason, mustText+tail), findings{may}, degraded(yes, optionalReason, mayText+tail)},
		"TailToSatisfied": {"their writer may say it again", degraded(yes, requiredReason, mustText+tail), findings{fine}, at(degraded(no, satisfiedReason, satisfiedMessage), now)},
		"TailTooLong": {
			"shortened, as another writer's message is when it is kept first", degraded(yes, requiredReason, mustText+tail+strings.Repeat("é", MaxMessage)),
			findings{must},
			degraded(yes, requiredReason, mustText+tail+strings.Repeat("é", 4095-len("DiskFull: 3 of 3 disks"))+"…"),
		},
		"TailInSeveralLines": {
			"on one line, as all of our message is", degraded(yes, requiredReason, mustText+tail+"\nand more"),
			findings{must},
			degraded(yes, requiredReason, mustText+tail+" and more"),
		},
		"FalseWithOurReason": {
			"only a True is kept words of", degraded(no, requiredReason, "m"+tail),
			findings{must},
			at(degraded(yes, requiredReason, mustText), now),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := tc.stored.DeepCopy()
			got, write := Degraded(tc.stored, tc.findings, now)
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
			if diff := cmp.Diff(before, tc.stored); diff != "" {
				t.Errorf("%s: the stored condition is not ours to change: %s", tc.reason, diff)
			}
			if write {
				if again, more := Degraded(&got, tc.findings, metav1.Now()); more {
					t.Errorf("%s: decided again: %+v", tc.reason, again)
				}
			}
		})
	}
}

// What is kept of another writer can come from an earlier version or a manual
// edit: in a message of ours that is too long as it is, or long up to its end.
func TestKeptTailStaysInBounds(t *testing.T) {
	many := make([]Finding, 0, 200)
	for i := range 200 {
		many = append(many, finding(required(label(i)), strings.Repeat("ü", 1000), NotInstalled))
	}
	for name, findings := range map[string][]Finding{"OneEdge": many[:1], "ManyEdges": many} {
		for _, length := range []int{0, 4096, 4097, 32_000, MaxMessage - 1, MaxMessage, 2 * MaxMessage} {
			t.Run(fmt.Sprintf("%s/%d", name, length), func(t *testing.T) {
				text := strings.Repeat("é", length)
				stored := degraded(metav1.ConditionTrue, requiredReason, "Required addon 'x'."+foreignMark+text)
				got, write := Degraded(stored, findings, now)
				if n := utf8.RuneCountInString(got.Message); !write || n > MaxMessage {
					t.Fatalf("write = %t, %d characters", write, n)
				}
				if !strings.HasPrefix(got.Message, "Required addon '"+findings[0].Dependency.Name+"'") {
					t.Errorf("it does not begin with the first edge: %.80q", got.Message)
				}
				if !strings.Contains(got.Message, foreignMark+text[:min(len(text), 8000)]) {
					t.Error("the words of the other writer are lost")
				}
				if again, more := Degraded(&got, findings, now); more {
					t.Errorf("decided again: %.80q, %d characters", again.Message, utf8.RuneCountInString(again.Message))
				}
			})
		}
	}
}

func TestDegradedStaysInBounds(t *testing.T) {
	var findings []Finding
	for i := range 100 {
		findings = append(findings, finding(required(label(i)), strings.Repeat("ü", 1000), NotInstalled))
	}
	stored := degraded(metav1.ConditionTrue, "DiskFull", strings.Repeat("é", MaxMessage))
	for range 3 {
		got, write := Degraded(stored, findings, now)
		if !write {
			break
		}
		if n := utf8.RuneCountInString(got.Message); n > MaxMessage || n < MaxMessage-2000 {
			t.Errorf("%d characters", n)
		}
		if !strings.Contains(got.Message, " more; also Degraded: DiskFull: é") {
			t.Errorf("the words kept stand behind what is cut: %q", got.Message[len(got.Message)-10_000:])
		}
		stored = &got
	}
	if _, write := Degraded(stored, findings, now); write {
		t.Error("a message at its bound is stable")
	}
}

func TestOwned(t *testing.T) {
	for _, reason := range Reasons {
		if !Owned(degraded(metav1.ConditionTrue, reason, "")) {
			t.Errorf("%s is ours", reason)
		}
	}
	if Owned(nil) || Owned(degraded(metav1.ConditionTrue, "DiskFull", "")) || Owned(degraded(metav1.ConditionTrue, "", "")) {
		t.Error("nothing, somebody else's reason, and no reason are not ours")
	}
}

// FuzzDegraded applies decisions one after the other, as a controller does,
// and holds each to what must be true of it.
func FuzzDegraded(f *testing.F) {
	f.Add(uint64(1), "message", "Reason", "addon", "DiskFull", "3 of 3")
	f.Add(uint64(2), "; also Degraded:", ";", "; also Degraded:", "; also Degraded:", "x; also Degraded: y")
	f.Add(uint64(3), strings.Repeat("long ", 9000), foreignMark, " ", requiredReason, "also Degraded: ")
	f.Add(uint64(4), strings.Repeat("ü", 9000), "Reason", "addon", requiredReason, foreignMark+strings.Repeat("é", MaxMessage))
	f.Add(uint64(5), "message", "Reason", "addon", optionalReason, strings.Repeat("é", MaxMessage)+foreignMark+strings.Repeat("long\n", 9000))
	f.Fuzz(func(t *testing.T, seed uint64, message, reason, name, foreignReason, foreignMessage string) {
		r := random(seed)
		var stored *metav1.Condition
		for step := range uint64(6) {
			if r.IntN(3) == 0 {
				stored = degraded([]metav1.ConditionStatus{"True", "False", "Unknown"}[r.IntN(3)], foreignReason, foreignMessage)
			}
			findings := randomFindings(seed+step, message, reason, name)
			if r.IntN(2) == 0 { // most mixtures hold: leave what is held out
				findings = withoutHeld(findings)
			}
			got, write := Degraded(stored, findings, now)
			if !write {
				checkNotUntrue(t, stored, findings)
				continue
			}
			checkNotUntrue(t, &got, findings)
			checkDegraded(t, stored, got, findings)
			if again, more := Degraded(&got, findings, now); more {
				t.Fatalf("decided again:\n%q, then\n%q", got.Message, again.Message)
			}
			stored = &got
		}
	})
}

// checkNotUntrue fails where a reason of ours stays that is known to be untrue.
func checkNotUntrue(t *testing.T, stored *metav1.Condition, findings []Finding) {
	t.Helper()
	blockingMayFail, optionalFails := false, false
	for _, f := range findings {
		blockingMayFail = blockingMayFail || blocking(f) && (f.Unsatisfied() || f.Verdict == Held)
		optionalFails = optionalFails || !blocking(f) && f.Unsatisfied()
	}
	switch {
	case RequiredFails(stored) && !blockingMayFail:
		t.Fatalf("%s stays although all Required dependencies are satisfied: %+v", stored.Reason, findings)
	case Owned(stored) && stored.Reason == satisfiedReason && optionalFails:
		t.Fatalf("%s stays although a dependency fails: %+v", stored.Reason, findings)
	}
}

func withoutHeld(findings []Finding) []Finding {
	var kept []Finding
	for _, f := range findings {
		if f.Verdict != Held {
			kept = append(kept, f)
		}
	}
	return kept
}

func checkDegraded(t *testing.T, stored *metav1.Condition, got metav1.Condition, findings []Finding) {
	t.Helper()
	if got.Type != ConditionDegraded || !Owned(&got) || (got.Status == metav1.ConditionTrue) != (got.Reason != satisfiedReason) {
		t.Fatalf("not a condition of ours: %+v", got)
	}
	if utf8.RuneCountInString(got.Message) > MaxMessage || !startsWith(got, findings) {
		t.Fatalf("%s: %q", got.Reason, got.Message)
	}
	since := now
	if stored != nil && stored.Status == got.Status {
		since = stored.LastTransitionTime
	}
	if !got.LastTransitionTime.Equal(&since) {
		t.Fatalf("the time moves with the status: %+v → %+v", stored, got)
	}
	if marks := strings.Count(got.Message, foreignMark); marks > 1 && !Owned(stored) {
		t.Fatalf("%d marks in %q", marks, got.Message)
	}
}

// startsWith reports whether the message begins with its most important edge.
func startsWith(got metav1.Condition, findings []Finding) bool {
	word := firstWord(got, findings)
	return strings.HasPrefix(got.Message, word) ||
		word == string(addonv1alpha1.DependencyTypeOptional) && strings.HasPrefix(got.Message, "All Required dependencies are satisfied. ") ||
		word == string(addonv1alpha1.DependencyTypeRequired) && strings.HasPrefix(got.Message, "Addon '") ||
		word == string(addonv1alpha1.DependencyTypeRequired) && strings.HasPrefix(got.Message, "IfInstalled ")
}

func firstWord(got metav1.Condition, findings []Finding) string {
	for _, f := range findings {
		if got.Reason == requiredReason && f.Unsatisfied() && blocking(f) {
			return string(addonv1alpha1.DependencyTypeRequired)
		}
	}
	if got.Reason == optionalReason {
		return string(addonv1alpha1.DependencyTypeOptional)
	}
	return satisfiedMessage
}
