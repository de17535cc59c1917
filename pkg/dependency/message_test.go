package dependency

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
)

func finding(dependency addonv1alpha1.AddonDependency, message string, verdict Verdict) Finding {
	dependency.Message = message
	return Finding{Dependency: &dependency, Verdict: verdict}
}

func notAvailable(dependency addonv1alpha1.AddonDependency, condition *metav1.Condition) Finding {
	return Finding{Dependency: &dependency, Verdict: NotAvailable, Available: condition}
}

func TestMessage(t *testing.T) {
	const missing = " is not installed or not available."
	berlin := available(metav1.ConditionFalse, "Stopped")
	berlin.LastTransitionTime = metav1.NewTime(time.Date(2026, 8, 1, 12, 0, 0, 5, time.FixedZone("CEST", 7200)))
	timeless := available(metav1.ConditionUnknown, "")
	timeless.LastTransitionTime = metav1.Time{}

	cases := map[string]struct {
		reason   string
		findings []Finding
		want     string
	}{
		"None":      {"no findings, no message", nil, ""},
		"Satisfied": {"what is satisfied or held is not worded", []Finding{finding(required("a"), "m", Satisfied), finding(required("b"), "m", Held)}, ""},
		"ProposalOptional": {
			"the proposal's first example, then the finding",
			[]Finding{finding(optional("managed-serviceaccount"), "Token-based access to managed clusters is unavailable", NotInstalled)},
			"Optional addon 'managed-serviceaccount' is not installed or not available. Token-based access to managed clusters is unavailable (not installed)",
		},
		"ProposalRequired": {
			"the proposal's second example, then the finding",
			[]Finding{finding(required("managed-serviceaccount"), "This addon cannot function without ManagedServiceAccount API", NotInstalled)},
			"Required addon 'managed-serviceaccount' is not installed or not available. This addon cannot function without ManagedServiceAccount API (not installed)",
		},
		"Order": {
			"Required first, then by name",
			[]Finding{finding(optional("b"), "", NotInstalled), finding(required("d"), "", NotInstalled), finding(required("x"), "", Satisfied), finding(optional("a"), "A.", NotInstalled), finding(required("c"), "", NotInstalled)},
			"Required addon 'c'" + missing + " (not installed); Required addon 'd'" + missing + " (not installed); " +
				"Optional addon 'a'" + missing + " A. (not installed); Optional addon 'b'" + missing + " (not installed)",
		},
		"False":         {"status, reason and time, in UTC", []Finding{notAvailable(required("a"), berlin)}, "Required addon 'a'" + missing + " (Available=False, Stopped, since 2026-08-01T10:00:00Z)"},
		"Timeless":      {"no reason and no time are left out", []Finding{notAvailable(required("a"), timeless)}, "Required addon 'a'" + missing + " (Available=Unknown)"},
		"NoCondition":   {"nothing reported", []Finding{notAvailable(required("a"), nil)}, "Required addon 'a'" + missing + " (Available not reported yet)"},
		"Cycle":         {"spelled out", []Finding{{Dependency: edgeOn(required("b")), Verdict: Cycle, Cycle: []string{"a", "b", "a"}}}, "Required addon 'b'" + missing + " (dependency cycle: a → b → a)"},
		"LongCycle":     {"without its middle", []Finding{{Dependency: edgeOn(required("b")), Verdict: Cycle, Cycle: strings.Split("abcdefghijklmnopqrstuvwxyza", "")}}, "Required addon 'b'" + missing + " (dependency cycle: a → b → c → d → e → f → g → h → i → j → (7 more) → r → s → t → u → v → w → x → y → z → a)"},
		"Lines":         {"one line, no blanks around", []Finding{finding(required("a"), "one\ntwo\r\x00\u2028\u202ethree\n", NotInstalled)}, "Required addon 'a'" + missing + " one two    three (not installed)"},
		"OnlyBlanks":    {"as good as empty", []Finding{finding(required("a"), " \n\t ", NotInstalled)}, "Required addon 'a'" + missing + " (not installed)"},
		"InvalidUTF8":   {"replaced", []Finding{finding(required("a"), "caf\xe9\xff!", NotInstalled)}, "Required addon 'a'" + missing + " caf\uFFFD! (not installed)"},
		"OtherScripts":  {"kept as written", []Finding{finding(required("a"), "日本語 👩‍💻", NotInstalled)}, "Required addon 'a'" + missing + " 日本語 👩‍💻 (not installed)"},
		"LongName":      {"no longer than a name can be", []Finding{finding(required(strings.Repeat("n", 300)), "", NotInstalled)}, "Required addon '" + strings.Repeat("n", 252) + "…'" + missing + " (not installed)"},
		"MarkInMessage": {"our own mark is only ours", []Finding{finding(required("a"), "m; also Degraded:", NotInstalled)}, "Required addon 'a'" + missing + " m, also Degraded: (not installed)"},
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
	var many []Finding
	for i := range 500 {
		many = append(many, finding(required(fmt.Sprintf("addon-%03d", i)), strings.Repeat("ü", 1000), NotInstalled))
	}
	huge := finding(required("a"), strings.Repeat("ü", 100_000), NotInstalled)

	cases := map[string]struct {
		reason     string
		findings   []Finding
		limit      int
		start, end string
	}{
		"ManyLong": {"between edges, counting the rest", many, MaxMessage, "Required addon 'addon-000'", "ü (not installed); and 470 more"},
		"OneHuge":  {"a single message is cut inside, its finding kept", []Finding{huge}, MaxMessage, "Required addon 'a'", "ü… (not installed)"},
		"HugeFirst": {
			"the others are counted",
			[]Finding{huge, finding(required("b"), "", NotInstalled)},
			MaxMessage, "Required addon 'a'", "ü… (not installed); and 1 more",
		},
		"HugeSecond": {
			"an edge is shown whole or not at all",
			[]Finding{finding(required("A"), "", NotInstalled), huge, finding(optional("z"), "", NotInstalled)},
			MaxMessage, "Required addon 'A'", "(not installed); and 2 more",
		},
		"SmallLimit": {"the limit is the caller's", many, 8192, "Required addon 'addon-000'", "; and 493 more"},
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
	findings := []Finding{finding(optional("b"), "", NotInstalled), finding(required("x"), "", Satisfied), finding(required("a"), "", NotInstalled)}
	Message(findings, MaxMessage)
	if findings[0].Dependency.Name != "b" || findings[1].Verdict != Satisfied || findings[2].Dependency.Name != "a" {
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
	f.Fuzz(func(t *testing.T, seed uint64, extra uint16, message, reason, name string) {
		limit := min(8192+int(extra), MaxMessage)
		findings := randomFindings(seed, message, reason, name)
		got := Message(findings, limit)
		if n := utf8.RuneCountInString(got); n > limit {
			t.Fatalf("%d characters, limit %d", n, limit)
		}
		if !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) || strings.Contains(got, foreignMark) {
			t.Fatalf("not valid, not on one line, or with a mark: %q", got)
		}
		random(seed).Shuffle(len(findings), func(i, j int) { findings[i], findings[j] = findings[j], findings[i] })
		if diff := cmp.Diff(got, Message(findings, limit)); diff != "" {
			t.Fatalf("order matters: %s", diff)
		}
		checkSentences(t, got, findings, limit)
	})
}

func randomFindings(seed uint64, message, reason, name string) []Finding {
	r := random(seed)
	var findings []Finding
	for i := range r.IntN(40) {
		made := Finding{
			Dependency: &addonv1alpha1.AddonDependency{
				Name:    fmt.Sprintf("%02d%s", i, name),
				Type:    knownTypes[r.IntN(len(knownTypes))],
				Version: reason,
				Message: strings.Repeat(message, r.IntN(3)),
			},
			Verdict: Verdicts[r.IntN(len(Verdicts))],
		}
		switch {
		case made.Verdict == Cycle:
			made.Cycle = []string{"a", made.Dependency.Name, name, "a"}
		case made.Verdict == NotAvailable && r.IntN(4) > 0:
			made.Available = available(metav1.ConditionFalse, reason)
			if r.IntN(2) == 0 {
				made.Degraded = degraded(metav1.ConditionTrue, requiredReason, message)
			}
		case made.Verdict == APINotServed:
			made.Dependency.API = &addonv1alpha1.AddonAPI{Group: name, Kind: reason}
			made.Detail = &Detail{Because: message, Providers: slices.Repeat([]string{name}, r.IntN(8)), ConditionError: reason}
		case made.Verdict == RequirementNotMet:
			made.Detail = &Detail{Requirement: "Kubernetes version", Version: Version{Number: name}, Because: notAnswered}
		case made.Verdict == VersionMismatch || made.Verdict == VersionUnknown:
			made.Detail = &Detail{Version: Version{Number: name, Source: VersionFromLease}, ConditionError: message}
		}
		findings = append(findings, made)
	}
	return findings
}

// checkSentences takes message apart: every sentence is that of an edge, in
// order, and none is missing but those that are counted.
func checkSentences(t *testing.T, message string, findings []Finding, limit int) {
	t.Helper()
	var sentences []string
	for _, kind := range []bool{true, false} {
		for i := range len(findings) { // names start with their number
			for _, f := range findings {
				if f.Unsatisfied() && blocking(f) == kind && strings.HasPrefix(f.Dependency.Name, fmt.Sprintf("%02d", i)) {
					sentences = append(sentences, f.sentence(strings.TrimSpace(oneLine(f.Dependency.Message))))
				}
			}
		}
	}
	rest, shown := message, 0
	for _, sentence := range sentences {
		if shown > 0 {
			sentence = separator + sentence
		}
		after, ok := strings.CutPrefix(rest, sentence)
		if !ok {
			break
		}
		rest, shown = after, shown+1
	}
	more := len(sentences) - shown
	switch {
	case more == 0 && rest == "":
	case shown > 0 && rest == fmt.Sprintf("; and %d more", more):
	case shown == 0 && utf8.RuneCountInString(sentences[0]) > limit-maxMore && strings.Contains(rest, "… ("):
	default:
		t.Fatalf("%d of %d edges shown, then %q", shown, len(sentences), rest)
	}
}
