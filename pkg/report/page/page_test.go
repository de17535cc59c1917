package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/pkg/report/page"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/mixedfleet"
)

const setLabel = "cluster.open-cluster-management.io/clusterset"

// write returns the page of a fleet.
func write(t testing.TB, content snapshot.Content, now time.Time) string {
	t.Helper()
	same := func(line string) string { return line }
	o := overview.Find(snapshot.New(content), overview.Options{
		Hub: "https://hub.example:6443", Now: now, GroupBy: setLabel, Command: same, Note: func(string) string { return "" },
	})
	var out strings.Builder
	if err := page.Write(&out, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// parse returns the elements of a page.
func parse(t *testing.T, content string) []*html.Node {
	t.Helper()
	document, err := html.Parse(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	var elements []*html.Node
	for node := range document.Descendants() {
		if node.Type == html.ElementNode {
			elements = append(elements, node)
		}
	}
	return elements
}

func attribute(node *html.Node, name string) string {
	for _, attribute := range node.Attr {
		if attribute.Key == name {
			return attribute.Val
		}
	}
	return ""
}

func textOf(node *html.Node) string {
	var content strings.Builder
	for child := range node.Descendants() {
		if child.Type == html.TextNode {
			content.WriteString(child.Data)
		}
	}
	return strings.Join(strings.Fields(content.String()), " ")
}

// tagged returns the elements with a tag.
func tagged(elements []*html.Node, tags ...atom.Atom) []*html.Node {
	return slices.DeleteFunc(slices.Clone(elements), func(node *html.Node) bool { return !slices.Contains(tags, node.DataAtom) })
}

var fleets = map[string]func() snapshot.Content{
	"small":   func() snapshot.Content { return mixedfleet.Content(60) },
	"large":   func() snapshot.Content { return mixedfleet.Content(1000) },
	"empty":   func() snapshot.Content { return snapshot.Content{Taken: fixture.Now.Time} },
	"working": func() snapshot.Content { return mixedfleet.Content(3) },
	"hostile": mixedfleet.HostileContent,
}

// PAGES=folder go test ./pkg/report/page writes the pages to look at.
func TestPagesAreSafeAndAccessible(t *testing.T) {
	for name, content := range fleets {
		t.Run(name, func(t *testing.T) {
			written := write(t, content(), fixture.Now.Time)
			if written != write(t, content(), fixture.Now.Time) {
				t.Error("the same fleet has two pages")
			}
			if folder := os.Getenv("PAGES"); folder != "" {
				if err := os.WriteFile(filepath.Join(folder, name+".html"), []byte(written), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			elements := parse(t, written)
			checkNothingLoads(t, elements)
			checkTexts(t, written)
			checkPolicy(t, elements)
			checkLinks(t, elements)
			checkStructure(t, elements)
		})
	}
}

// checkNothingLoads tests that the page has no script, no form, no inline style, and no reference to anything outside of itself.
func checkNothingLoads(t *testing.T, elements []*html.Node) {
	t.Helper()
	allowed := strings.Fields("html head meta title style body a header footer nav main section h1 h2 h3 h4 p ul ol li dl dt dd details " +
		"summary div span strong code pre br table caption thead tbody tr th td time svg g rect path polygon text desc")
	for _, node := range elements {
		if !slices.Contains(allowed, node.Data) {
			t.Errorf("an element %s", node.Data)
		}
		for _, attribute := range node.Attr {
			value := strings.ToLower(attribute.Val)
			switch {
			case strings.HasPrefix(attribute.Key, "on"), attribute.Key == "src", attribute.Key == "style", attribute.Key == "srcdoc":
				t.Errorf("%s has %s=%q", node.Data, attribute.Key, attribute.Val)
			case attribute.Key == "href" && !strings.HasPrefix(value, "#"):
				t.Errorf("a link to %q", attribute.Val)
			case strings.Contains(value, "url("):
				t.Errorf("%s refers to %q", node.Data, attribute.Val)
			}
		}
	}
	if style := textOf(tagged(elements, atom.Style)[0]); strings.Contains(style, "url(") || strings.Contains(style, "@import") {
		t.Error("the style sheet loads something")
	}
}

// checkTexts tests that the page has no character that controls a terminal or the direction of text.
func checkTexts(t *testing.T, written string) {
	t.Helper()
	for _, r := range written {
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)) {
			t.Fatalf("a character %U", r)
		}
	}
}

// checkPolicy tests that the policy of the page allows the style sheet that the page has, and nothing else.
func checkPolicy(t *testing.T, elements []*html.Node) {
	t.Helper()
	styles := tagged(elements, atom.Style)
	if len(styles) != 1 {
		t.Fatalf("%d style sheets", len(styles))
	}
	hash := sha256.Sum256([]byte(styles[0].FirstChild.Data))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'; base-uri 'none'; form-action 'none'"
	for _, node := range tagged(elements, atom.Meta) {
		if attribute(node, "http-equiv") == "Content-Security-Policy" {
			if got := attribute(node, "content"); got != want {
				t.Errorf("the policy is %q, want %q", got, want)
			}
			return
		}
	}
	t.Error("no policy")
}

// checkLinks tests that ids are unique, and that each link and label has its target.
func checkLinks(t *testing.T, elements []*html.Node) {
	t.Helper()
	ids := map[string]bool{}
	for _, node := range elements {
		if id := attribute(node, "id"); id != "" {
			if ids[id] {
				t.Errorf("two elements have the id %q", id)
			}
			ids[id] = true
		}
	}
	for _, node := range elements {
		targets := strings.Fields(attribute(node, "aria-labelledby"))
		if link := attribute(node, "href"); link != "" {
			targets = append(targets, strings.TrimPrefix(link, "#"))
		}
		for _, target := range targets {
			if !ids[target] {
				t.Errorf("%s refers to %q, which does not exist", node.Data, target)
			}
		}
	}
}

// checkStructure tests what a keyboard and a screen reader need.
func checkStructure(t *testing.T, elements []*html.Node) {
	t.Helper()
	for _, landmark := range []atom.Atom{atom.H1, atom.Header, atom.Nav, atom.Main, atom.Footer, atom.Title} {
		if got := len(tagged(elements, landmark)); landmark != atom.Title && got != 1 || got == 0 {
			t.Errorf("%d elements %s", got, landmark)
		}
	}
	level := 0
	for _, heading := range tagged(elements, atom.H1, atom.H2, atom.H3, atom.H4) {
		current := int(heading.Data[1] - '0')
		if current > level+1 {
			t.Errorf("heading %q skips a level", textOf(heading))
		}
		level = current
	}
	for _, table := range tagged(elements, atom.Table) {
		if caption := table.FirstChild.NextSibling; caption == nil || caption.DataAtom != atom.Caption || textOf(caption) == "" {
			t.Error("a table has no caption")
		}
	}
	for _, header := range tagged(elements, atom.Th) {
		if scope := attribute(header, "scope"); scope != "col" && scope != "row" || textOf(header) == "" {
			t.Errorf("the header %q has the scope %q", textOf(header), scope)
		}
	}
	for _, node := range elements {
		if attribute(node, "class") == "scroll" && (attribute(node, "tabindex") != "0" || attribute(node, "aria-label") == "") {
			t.Error("an area that scrolls cannot have the focus, or has no name")
		}
	}
	for _, node := range tagged(elements, atom.Summary) {
		if textOf(node) == "" {
			t.Error("a summary without a text")
		}
	}
}

// TestHostileTextsAreShown tests that hostile names are shown as text, in every section.
func TestHostileTextsAreShown(t *testing.T) {
	elements := parse(t, write(t, mixedfleet.HostileContent(), fixture.Now.Time))
	const shown = `"><script>alert(1)</script><img src=x onerror=alert(2)>`
	for _, tag := range []atom.Atom{atom.H3, atom.Th, atom.Dd, atom.Summary, atom.Td, atom.Caption} {
		if !slices.ContainsFunc(tagged(elements, tag), func(node *html.Node) bool { return strings.Contains(textOf(node), shown) }) {
			t.Errorf("no %s shows the hostile text", tag)
		}
	}
	for _, node := range tagged(elements, atom.Code) {
		if strings.Contains(textOf(node), "script") {
			t.Errorf("a command with a hostile name: %s", textOf(node))
		}
	}
}

// TestPageOfLargeFleetIsBounded tests the size of pages. Hostile messages have 32 KiB each.
func TestPageOfLargeFleetIsBounded(t *testing.T) {
	hostile := mixedfleet.Content(1000)
	for i := range hostile.AddOns {
		for j := range hostile.AddOns[i].Status.Conditions {
			hostile.AddOns[i].Status.Conditions[j].Message = strings.Repeat("<&>", 10<<10)
		}
	}
	for name, test := range map[string]struct {
		content snapshot.Content
		limit   int
	}{
		"1,000 clusters with 10 add-ons": {mixedfleet.Content(1000), 1 << 20},
		"the same with long messages":    {hostile, 2 << 20},
	} {
		written := write(t, test.content, fixture.Now.Time)
		t.Logf("%s: %d KiB", name, len(written)>>10)
		if len(written) > test.limit {
			t.Errorf("%s: %d KiB", name, len(written)>>10)
		}
	}
	if written := write(t, hostile, fixture.Now.Time); !strings.Contains(written, "more managed clusters have no room here") {
		t.Error("the page does not say that it leaves something out")
	}
}

// TestOldDataHasNotice tests that a page of old data says so.
func TestOldDataHasNotice(t *testing.T) {
	for wait, want := range map[time.Duration]bool{time.Minute: false, 3 * time.Hour: true} {
		written := write(t, mixedfleet.Content(3), fixture.Now.Add(wait))
		if got := strings.Contains(written, "This data is old: it was read 3h before this page was made."); got != want {
			t.Errorf("after %v: %t", wait, got)
		}
	}
}
