package condition

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/text"
	"open-cluster-management.io/interlock/test/fixture"
)

func finding(dependency addonv1alpha1.AddonDependency, message string, verdict evaluation.Verdict) evaluation.Finding {
	dependency.Message = message
	return evaluation.Finding{Dependency: &dependency, Verdict: verdict}
}

func notAvailable(dependency addonv1alpha1.AddonDependency, condition *metav1.Condition) evaluation.Finding {
	return evaluation.Finding{Dependency: &dependency, Verdict: evaluation.NotAvailable, Available: condition}
}

func TestMessage(t *testing.T) {
	const missing = " is not installed or not available."
	berlin := fixture.Available(metav1.ConditionFalse, "Stopped")
	berlin.LastTransitionTime = metav1.NewTime(time.Date(2026, 8, 1, 12, 0, 0, 5, time.FixedZone("CEST", 7200)))
	timeless := fixture.Available(metav1.ConditionUnknown, "")
	timeless.LastTransitionTime = metav1.Time{}

	cases := map[string]struct {
		reason   string
		findings []evaluation.Finding
		want     string
	}{
		"None": {"no findings, no message", nil, ""},
		"Satisfied": {
			"what is satisfied or held is not worded",
			[]evaluation.Finding{finding(fixture.Required("a"), "m", evaluation.Satisfied), finding(fixture.Required("b"), "m", evaluation.Held)},
			"",
		},
		"ProposalOptional": {
			"the proposal's first example, then the finding",
			[]evaluation.Finding{finding(
				fixture.Optional("managed-serviceaccount"), "Token-based access to managed clusters is unavailable",
				evaluation.NotInstalled,
			)},
			"Optional addon 'managed-serviceaccount' is not installed or not available. Token-based access to managed " +
				"clusters is unavailable (not installed)",
		},
		"ProposalRequired": {
			"the proposal's second example, then the finding",
			[]evaluation.Finding{finding(
				fixture.Required("managed-serviceaccount"), "This addon cannot function without ManagedServiceAccount API",
				evaluation.NotInstalled,
			)},
			"Required addon 'managed-serviceaccount' is not installed or not available. This addon cannot function without " +
				"ManagedServiceAccount API (not installed)",
		},
		"Order": {
			"Required first, then by name",
			[]evaluation.Finding{
				finding(fixture.Optional("b"), "", evaluation.NotInstalled),
				finding(fixture.Required("d"), "", evaluation.NotInstalled),
				finding(fixture.Required("x"), "", evaluation.Satisfied),
				finding(fixture.Optional("a"), "A.", evaluation.NotInstalled),
				finding(fixture.Required("c"), "", evaluation.NotInstalled),
			},
			"Required addon 'c'" + missing + " (not installed); Required addon 'd'" + missing + " (not installed); " +
				"Optional addon 'a'" + missing + " A. (not installed); Optional addon 'b'" + missing + " (not installed)",
		},
		"False": {
			"status, reason and time, in UTC",
			[]evaluation.Finding{notAvailable(fixture.Required("a"), berlin)},
			"Required addon 'a'" + missing + " (Available=False, Stopped, since 2026-08-01T10:00:00Z)",
		},
		"Timeless": {
			"no reason and no time are left out",
			[]evaluation.Finding{notAvailable(fixture.Required("a"), timeless)},
			"Required addon 'a'" + missing + " (Available=Unknown)",
		},
		"NoCondition": {
			"nothing reported",
			[]evaluation.Finding{notAvailable(fixture.Required("a"), nil)},
			"Required addon 'a'" + missing + " (Available not reported yet)",
		},
		"Cycle": {
			"spelled out",
			[]evaluation.Finding{{Dependency: fixture.EdgeOn(fixture.Required("b")), Verdict: evaluation.Cycle, Cycle: []string{"a", "b", "a"}}},
			"Required addon 'b'" + missing + " (dependency cycle: a → b → a)",
		},
		"LongCycle": {
			"without its middle",
			[]evaluation.Finding{{
				Dependency: fixture.EdgeOn(fixture.Required("b")), Verdict: evaluation.Cycle,
				Cycle: strings.Split("abcdefghijklmnopqrstuvwxyza", ""),
			}},
			"Required addon 'b'" + missing + " (dependency cycle: a → b → c → d → e → f → g → h → i → j → (7 more)" +
				" → r → s → t → u → v → w → x → y → z → a)",
		},
		"Lines": {
			"one line, no blanks around",
			[]evaluation.Finding{finding(fixture.Required("a"), "one\ntwo\r\x00\u2028\u202ethree\n", evaluation.NotInstalled)},
			"Required addon 'a'" + missing + " one two    three (not installed)",
		},
		"OnlyBlanks": {
			"as good as empty",
			[]evaluation.Finding{finding(fixture.Required("a"), " \n\t ", evaluation.NotInstalled)},
			"Required addon 'a'" + missing + " (not installed)",
		},
		"InvalidUTF8": {
			"replaced",
			[]evaluation.Finding{finding(fixture.Required("a"), "caf\xe9\xff!", evaluation.NotInstalled)},
			"Required addon 'a'" + missing + " caf\uFFFD! (not installed)",
		},
		"OtherScripts": {
			"kept as written",
			[]evaluation.Finding{finding(fixture.Required("a"), "日本語 👩‍💻", evaluation.NotInstalled)},
			"Required addon 'a'" + missing + " 日本語 👩‍💻 (not installed)",
		},
		"LongName": {
			"no longer than a name can be",
			[]evaluation.Finding{finding(fixture.Required(strings.Repeat("n", 300)), "", evaluation.NotInstalled)},
			"Required addon '" + strings.Repeat("n", 252) + "…'" + missing + " (not installed)",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Message(tc.findings, MaxMessage)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestMessageCut(t *testing.T) {
	var findings []evaluation.Finding
	for i := range 500 {
		findings = append(findings, finding(fixture.Required(fmt.Sprintf("addon-%03d", i)), strings.Repeat("ü", 1000), evaluation.NotInstalled))
	}
	huge := finding(fixture.Required("a"), strings.Repeat("ü", 100_000), evaluation.NotInstalled)

	cases := map[string]struct {
		reason     string
		findings   []evaluation.Finding
		limit      int
		start, end string
	}{
		"ManyLong": {
			reason: "between edges, counting the rest", findings: findings, limit: MaxMessage, start: "Required addon 'addon-000'",
			end: "ü (not installed); and 470 more",
		},
		"OneHuge": {
			reason: "a single message is cut inside, its finding kept", findings: []evaluation.Finding{huge}, limit: MaxMessage,
			start: "Required addon 'a'", end: "ü… (not installed)",
		},
		"HugeFirst": {
			reason:   "the others are counted",
			findings: []evaluation.Finding{huge, finding(fixture.Required("b"), "", evaluation.NotInstalled)},
			limit:    MaxMessage, start: "Required addon 'a'", end: "ü… (not installed); and 1 more",
		},
		"HugeSecond": {
			reason: "an edge is shown whole or not at all",
			findings: []evaluation.Finding{
				finding(fixture.Required("A"), "", evaluation.NotInstalled), huge,
				finding(fixture.Optional("z"), "", evaluation.NotInstalled),
			},
			limit: MaxMessage, start: "Required addon 'A'", end: "(not installed); and 2 more",
		},
		"SmallLimit": {
			reason: "the limit is the caller's", findings: findings, limit: 8192, start: "Required addon 'addon-000'",
			end: "; and 493 more",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := Message(tc.findings, tc.limit)
			if n := utf8.RuneCountInString(got); n > tc.limit || n < 50 {
				t.Errorf("%s: %d characters", tc.reason, n)
			}
			if !strings.HasPrefix(got, tc.start) || !strings.HasSuffix(got, tc.end) {
				t.Errorf("%s: want %q … %q, got %q … %q", tc.reason, tc.start, tc.end, got[:40], got[len(got)-60:])
			}
		})
	}
}

func TestMessageKeepsItsInput(t *testing.T) {
	findings := []evaluation.Finding{
		finding(fixture.Optional("b"), "", evaluation.NotInstalled), finding(fixture.Required("x"), "", evaluation.Satisfied),
		finding(fixture.Required("a"), "", evaluation.NotInstalled),
	}
	Message(findings, MaxMessage)
	if findings[0].Dependency.Name != "b" || findings[1].Verdict != evaluation.Satisfied || findings[2].Dependency.Name != "a" {
		t.Errorf("the findings are the caller's: %v", findings)
	}
}

// FuzzMessage makes findings of a seed and three texts, and holds every
// message to the promises of Message.
func FuzzMessage(f *testing.F) {
	f.Add(uint64(1), uint16(0), "message", "Reason", "addon")
	f.Add(uint64(2), uint16(60000), strings.Repeat("long ", 2000), "\n", "\xff")
	f.Add(uint64(3), uint16(1), "; and 3 more", foreignMark, "; also Degraded:")
	f.Add(uint64(4), uint16(9), "; also Degraded:", ";", "'")
	f.Add(uint64(5), uint16(9), "\x1b]0;owned\x07", "\u202e", "\u2066\u009b31m")
	f.Fuzz(func(t *testing.T, seed uint64, extra uint16, message, reason, name string) {
		limit := min(8192+int(extra), MaxMessage)
		findings := randomFindings(seed, message, reason, name)
		got := Message(findings, limit)
		if n := utf8.RuneCountInString(got); n > limit {
			t.Fatalf("%d characters, limit %d", n, limit)
		}
		if !utf8.ValidString(got) || strings.ContainsFunc(got,
			func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }) {
			t.Fatalf("not valid, or not on one line: %q", got)
		}
		fixture.Random(seed).Shuffle(len(findings), func(i, j int) { findings[i], findings[j] = findings[j], findings[i] })
		if diff := cmp.Diff(got, Message(findings, limit)); diff != "" {
			t.Fatalf("order matters: %s", diff)
		}
		checkSentences(t, got, findings, limit)
	})
}

var knownTypes = []addonv1alpha1.DependencyType{
	addonv1alpha1.DependencyTypeOptional, addonv1alpha1.DependencyTypeRequired, addonv1alpha1.DependencyTypeIfInstalled,
}

func randomFindings(seed uint64, message, reason, name string) []evaluation.Finding {
	r := fixture.Random(seed)
	var findings []evaluation.Finding
	for i := range r.IntN(40) {
		made := evaluation.Finding{
			Dependency: &addonv1alpha1.AddonDependency{
				Name:    fmt.Sprintf("%02d%s", i, name),
				Type:    knownTypes[r.IntN(len(knownTypes))],
				Version: reason,
				Message: strings.Repeat(message, r.IntN(3)),
			},
			Verdict: evaluation.Verdicts[r.IntN(len(evaluation.Verdicts))],
		}
		switch {
		case made.Verdict == evaluation.Cycle:
			made.Cycle = []string{"a", made.Dependency.Name, name, "a"}
		case made.Verdict == evaluation.NotAvailable && r.IntN(4) > 0:
			made.Available = fixture.Available(metav1.ConditionFalse, reason)
			if r.IntN(2) == 0 {
				made.Degraded = fixture.Degraded(metav1.ConditionTrue, requiredReason, message)
			}
		case made.Verdict == evaluation.APINotServed:
			made.Dependency.API = &addonv1alpha1.DependencyAPI{AddonAPI: addonv1alpha1.AddonAPI{Group: name, Kind: reason}}
			made.Detail = &evaluation.Detail{Because: message, Providers: slices.Repeat([]string{name}, r.IntN(8)), ConditionError: reason}
		case made.Verdict == evaluation.RequirementNotMet:
			made.Dependency, made.Requirement = nil, &declaration.Requirement{
				Name: made.Dependency.Name, Subject: "Kubernetes version", Wanted: reason,
			}
			made.Detail = &evaluation.Detail{Version: versions.Version{Number: name}, Because: "not answered"}
		case made.Verdict == evaluation.VersionMismatch || made.Verdict == evaluation.VersionUnknown:
			made.Detail = &evaluation.Detail{Version: versions.Version{Number: name, Source: versions.FromLease}, ConditionError: message}
		}
		findings = append(findings, made)
	}
	return findings
}

// checkSentences parses the message: every sentence describes an edge, in order. Only counted sentences are missing.
func checkSentences(t *testing.T, message string, findings []evaluation.Finding, limit int) {
	t.Helper()
	var sentences []string
	for _, kind := range []bool{true, false} {
		for i := range len(findings) { // names start with their number
			for _, f := range findings {
				if f.Unsatisfied() && f.Blocks() == kind && strings.HasPrefix(f.Name(), fmt.Sprintf("%02d", i)) {
					sentences = append(sentences, f.Sentence(strings.TrimSpace(text.OneLine(f.AuthorMessage()))))
				}
			}
		}
	}
	rest, shown := message, 0
	for _, sentence := range sentences {
		if shown > 0 {
			sentence = separator + sentence
		}
		rests, ok := strings.CutPrefix(rest, sentence)
		if !ok {
			break
		}
		rest, shown = rests, shown+1
	}
	hidden := len(sentences) - shown
	switch {
	case hidden == 0 && rest == "":
	case shown > 0 && rest == fmt.Sprintf("; and %d more", hidden):
	case shown == 0 && utf8.RuneCountInString(sentences[0]) > limit-maxMore && strings.Contains(rest, "… ("):
	default:
		t.Fatalf("%d of %d edges shown, then %q", shown, len(sentences), rest)
	}
}
