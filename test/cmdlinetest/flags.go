// Package cmdlinetest checks command lines against their documentation.
package cmdlinetest

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// FlagsAreDocumented fails for each of the flags that has no row in the table
// of its section of the page, and for each row that has no flag.
func FlagsAreDocumented(t *testing.T, flags *pflag.FlagSet, page, section string) {
	t.Helper()
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(content), "\n### "+section+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", page, section)
	}
	table, _, _ := strings.Cut(rest, "\n#")
	documented := map[string]bool{}
	for line := range strings.Lines(table) {
		if name, ok := strings.CutPrefix(line, "| `--"); ok {
			name, _, _ = strings.Cut(name, "`")
			documented[name] = true
		}
	}
	flags.VisitAll(func(flag *pflag.Flag) {
		if !documented[flag.Name] {
			t.Errorf("%s, %s: flag --%s has no row", page, section, flag.Name)
		}
		delete(documented, flag.Name)
	})
	for name := range documented {
		t.Errorf("%s, %s: --%s is no flag", page, section, name)
	}
}
