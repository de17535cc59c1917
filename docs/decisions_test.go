package docs

import (
	"path"
	"strings"
	"testing"
)

// sections are the parts of a decision record, in this order.
var sections = []string{"Context", "Decision", "Considered", "Consequences", "What would end it"}

func TestDecisionRecordsAreCompleteAndListed(t *testing.T) {
	markdown := pages(t)
	index := markdown["docs/decisions/README.md"]
	for name, content := range markdown {
		if path.Dir(name) != "docs/decisions" || path.Base(name) == "README.md" {
			continue
		}
		if !strings.Contains(index, "]("+path.Base(name)+")") {
			t.Errorf("docs/decisions/README.md does not list %s", path.Base(name))
		}
		if !strings.Contains(content, "\n**Status:** ") {
			t.Errorf("%s has no status", name)
		}
		rest := content
		for _, section := range sections {
			_, remainder, ok := strings.Cut(rest, "\n## "+section+"\n")
			if !ok {
				t.Errorf("%s has no section %q where it belongs", name, section)
				continue
			}
			rest = remainder
		}
	}
}
