package docs

import (
	"regexp"
	"strings"
	"testing"
)

// maxTerms is the highest number of links to the glossary in the first paragraph of a page. The paragraph has to explain the
// use of the page first.
const maxTerms = 2

var glossaryLink = regexp.MustCompile(`\]\([^()]*glossary\.md#[^()]+\)`)

func TestFirstParagraphsLinkFewTerms(t *testing.T) {
	for name, content := range pages(t) {
		if links := glossaryLink.FindAllString(firstParagraph(content), -1); len(links) > maxTerms {
			t.Errorf("the first paragraph of %s links %d terms, more than %d: %s", name, len(links), maxTerms, strings.Join(links, ", "))
		}
	}
}

// firstParagraph returns the text between the first heading and the next empty line.
func firstParagraph(page string) string {
	_, text, _ := strings.Cut(page, "\n")
	text, _, _ = strings.Cut(strings.TrimLeft(text, "\n"), "\n\n")
	return text
}
