package docs

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// terms maps the headings of glossary.md that pages link to how pages use the terms.
var terms = map[string]string{
	"add-on": `add-ons?`, "hub": `hubs?`, "managed-cluster": `managed clusters?`, "dependent": `dependents?`,
	"dependency": `dependenc(?:y|ies)`, "edge": `edges?`, "verdict": `verdicts?`, "finding": `findings?`, "held": `held`,
	"guard": `guards?`, "graft": `graft(?:s|ed|ing)?`, "facts": `facts`, "cma": `CMAs?`, "mca": `MCAs?`,
}

// TestPagesLinkTermsAtFirstUse expects a link to the glossary in place of the first
// use of a term on each page, apart from headings, code and links to other places.
func TestPagesLinkTermsAtFirstUse(t *testing.T) {
	all := pages(t)
	defined := anchors(all["docs/glossary.md"])
	for term, use := range terms {
		if !defined[term] {
			t.Errorf("glossary.md does not define %s", term)
		}
		used := regexp.MustCompile(`(?i)(?:^|[^\w-])` + use + `(?:[^\w-]|$)`)
		for name, content := range all {
			if !linksTerms(name) {
				continue
			}
			glossary, err := filepath.Rel(filepath.Dir(name), "docs/glossary.md")
			if err != nil {
				t.Fatal(err)
			}
			before, _, _ := strings.Cut(content, "]("+filepath.ToSlash(glossary)+"#"+term+")")
			if before != content {
				before = before[:strings.LastIndex(before, "[")]
			}
			if at := used.FindString(prose(before)); at != "" {
				t.Errorf("%s uses %q before it links %s#%s", name, strings.TrimSpace(at), glossary, term)
			}
		}
	}
}

// linksTerms excludes the glossary, the pages that `make bench-document` and `make generate` write,
// and pages that are lists for those who know the terms.
func linksTerms(page string) bool {
	switch page {
	case "docs/glossary.md", "docs/performance.md", "docs/cli.md", "CHANGELOG.md", "SECURITY.md":
		return false
	}
	return !strings.HasPrefix(page, ".github/")
}

// prose is what is left of a page without code, headings, comments and links.
func prose(page string) string {
	for _, part := range []*regexp.Regexp{codeBlock, comment, codeSpan, link, heading} {
		page = part.ReplaceAllString(page, " ")
	}
	return page
}
