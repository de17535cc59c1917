package table

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/interlock/pkg/cli/terminal"
)

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		content string
		width   int
		want    string
	}{
		{"short", 10, "short"},
		{"two words", 6, "two|words"},
		{"an add-on named cert-manager", 16, "an add-on named|cert-manager"}, // a word that fits stays whole
		{"multicluster-kueue-manager", 14, "multicluster-|kueue-manager"},
		{"RequiredDependencyNotSatisfied", 24, "RequiredDependencyNot|Satisfied"},
		{"Certificate.cert-manager.io/v1", 15, "Certificate.|cert-manager.|io/v1"},
		{"since 2026-08-01T10:00:00Z", 20, "since|2026-08-01T10:00:00Z"},
		{"inseparable", 4, "inse|para|ble"},
		{"NOT" + Break + "AVAILABLE", 9, "NOT|AVAILABLE"},
		{"ä→ü ö", 3, "ä→ü|ö"},
		{"日本語", 4, "日本|語"}, // wide characters have two columns
	} {
		if diff := cmp.Diff(test.want, strings.Join(wrap(test.content, test.width), "|")); diff != "" {
			t.Errorf("%q in %d (-want +got):\n%s", test.content, test.width, diff)
		}
	}
}

// TestTreesAreNotInterrupted tests that the branches of a tree continue beside all lines of a row.
func TestTreesAreNotInterrupted(t *testing.T) {
	out := &screenOutput{screen: terminal.Screen{Width: 30}}
	reason := []string{"RequiredDependencyNotSatisfied"}
	tree := New(out, []string{"NAME", "REASON"})
	if err := tree.PrintTree([]string{"a", "├── b", "│\u00a0\u00a0 └── c", "└── d"}, [][]string{reason, reason, reason, reason}); err != nil {
		t.Fatal(err)
	}
	want := `NAME        REASON
a           RequiredDependency
│           NotSatisfied
├── b       RequiredDependency
│   │       NotSatisfied
│   └── c   RequiredDependency
│           NotSatisfied
└── d       RequiredDependency
            NotSatisfied
`
	if diff := cmp.Diff(want, strings.ReplaceAll(out.String(), "\u00a0", " ")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestHeadingsCanBeLeftOut(t *testing.T) {
	for _, screen := range []terminal.Screen{{}, {Width: 80}} {
		out := &screenOutput{screen: screen}
		headless := New(out, []string{"NAME", "NOT" + Break + "AVAILABLE"})
		headless.Headless = true
		if err := headless.Print([][]string{{"a", "1"}}); err != nil {
			t.Fatal(err)
		}
		if fields := strings.Fields(out.String()); len(fields) != 2 {
			t.Errorf("on %v: %q", screen, out)
		}
	}
	var out bytes.Buffer
	if err := Print(&out, []string{"NOT" + Break + "AVAILABLE"}, [][]string{{"1"}}); err != nil || out.String() != "NOTAVAILABLE\n1\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}
