package table

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

type screenOutput struct {
	bytes.Buffer
	screen terminal.Screen
}

func (o *screenOutput) Screen() terminal.Screen { return o.screen }

func TestTerminalHasColorsAndWidth(t *testing.T) {
	heading := []string{"NAME", "AVAILABLE", "DEGRADED", "MESSAGE"}
	rows := [][]string{
		{"one", "True", "False", "all is well with this one"},
		{"another", "False", "True", strings.Repeat("long ", 20)},
		{"ä→", "Unknown", "", "x"},
	}
	out := &screenOutput{screen: terminal.Screen{Width: 60, Colored: true}}
	if err := Print(out, heading, rows); err != nil {
		t.Fatal(err)
	}
	want := "NAME      AVAILABLE   DEGRADED   MESSAGE\n" +
		"one       \x1b[32mTrue\x1b[0m        \x1b[32mFalse\x1b[0m      all is well with this one\n" +
		"another   \x1b[31mFalse\x1b[0m       \x1b[31mTrue\x1b[0m       long long long long long\n" +
		"                                 long long long long long\n" +
		"                                 long long long long long\n" +
		"                                 long long long long long\n" +
		"ä→        \x1b[33mUnknown\x1b[0m     -          x\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var piped bytes.Buffer
	if err := Print(&piped, heading, rows); err != nil {
		t.Fatal(err)
	}
	whole := &screenOutput{screen: terminal.Screen{Width: 60, Colored: true}}
	uncut := New(whole, heading)
	uncut.Uncut = true
	if err := uncut.Print(rows); err != nil {
		t.Fatal(err)
	}
	plain := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(whole.String(), "")
	if diff := cmp.Diff(piped.String(), plain); diff != "" {
		t.Errorf("colors change more than colors (-piped +shown):\n%s", diff)
	}
}

func TestLaterRowsAreAligned(t *testing.T) {
	var out bytes.Buffer
	table := New(&out, []string{"NAME", "AVAILABLE"})
	for _, name := range []string{"a-long-name", "short"} {
		if err := table.Print([][]string{{name, "True"}}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff("NAME          AVAILABLE\na-long-name   True\nshort         True\n", out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestNarrowTerminalLeavesSpareColumnsOut(t *testing.T) {
	heading := []string{"NAME", "SINCE", "REASON", "MESSAGE"}
	row := []string{"cluster-gateway", "10m", "RequiredDependencyNotSatisfied", strings.Repeat("long ", 20)}
	for name, test := range map[string]struct {
		width int
		spare []string
		want  string
	}{
		"wide": {
			83,
			[]string{"MESSAGE", "SINCE"},
			"NAME              SINCE   REASON                           MESSAGE\n" +
				"cluster-gateway   10m     RequiredDependencyNotSatisfied   long long long long lon…\n",
		},
		"without messages": {
			60,
			[]string{"MESSAGE", "SINCE"},
			"NAME              SINCE   REASON\n" +
				"cluster-gateway   10m     RequiredDependencyNotSatisfied\n",
		},
		"and since": {
			40,
			[]string{"MESSAGE", "SINCE"},
			"NAME              REASON\n" +
				"cluster-gateway   RequiredDependencyNot\n" +
				"                  Satisfied\n",
		},
		"in another order": {
			75,
			[]string{"SINCE"},
			"NAME              REASON         MESSAGE\n" +
				"cluster-gateway   Required       long long long long long long long long\n" +
				"                  Dependency     long long long long long long long long\n" +
				"                  NotSatisfied   long long long long\n",
		},
		"names break, too": {
			30,
			[]string{"SINCE", "MESSAGE"},
			"NAME       REASON\n" +
				"cluster-   RequiredDependency\n" +
				"gateway    NotSatisfied\n",
		},
		"too narrow": {
			18,
			[]string{"SINCE", "MESSAGE"},
			"NAME       REASON\n" +
				"cluster-   Required\n" +
				"gateway    Dependen\n" +
				"           cyNot\n" +
				"           Satisfie\n" +
				"           d\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := &screenOutput{screen: terminal.Screen{Width: test.width}}
			narrow := New(out, heading)
			narrow.Spare = test.spare
			for range 2 { // the second time without a heading, in the same columns
				if err := narrow.Print([][]string{row}); err != nil {
					t.Fatal(err)
				}
			}
			_, last, _ := strings.Cut(test.want, "\n") // the rows without the heading
			if diff := cmp.Diff(test.want+last, out.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestEveryVerdictHasAColor(t *testing.T) {
	for _, verdict := range evaluation.Verdicts {
		if ColorOfVerdict(verdict) == terminal.NoColor && verdict != evaluation.NotApplicable {
			t.Errorf("%s has none", verdict)
		}
	}
}
