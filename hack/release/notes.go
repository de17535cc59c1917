package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// relative is the target of a Markdown link that is relative to the changelog.
var relative = regexp.MustCompile(`\]\(([^():#]+(?:#[^()]*)?)\)`)

// notes returns the version's section of the changelog. Unless strict is set, a version
// without a section has that of the unreleased changes.
func (o *order) notes() (string, error) {
	content, err := os.ReadFile(filepath.Join(o.repository, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	text, found := section(string(content), o.plain)
	if !found {
		if o.strict {
			return "", fmt.Errorf("CHANGELOG.md has no section %q", "## "+o.plain)
		}
		text, _ = section(string(content), "Unreleased")
		text = fmt.Sprintf("CHANGELOG.md has no section for %s. These changes are not released.\n\n%s", o.tag, text)
	}
	if o.source != "" { // release notes are not in the folder of the changelog
		text = relative.ReplaceAllString(text, "]("+o.source+"/blob/"+o.tag+"/$1)")
	}
	return "## Interlock " + o.tag + "\n\n" + text, nil
}

// section returns the text below the heading of a version: "## 0.1.0", which may be in
// brackets and followed by a date.
func section(changelog, version string) (text string, found bool) {
	var lines []string
	for line := range strings.Lines(changelog) {
		heading, isHeading := strings.CutPrefix(line, "## ")
		switch {
		case isHeading && found:
			return strings.TrimSpace(strings.Join(lines, "")) + "\n", true
		case isHeading:
			name, _, _ := strings.Cut(strings.TrimSpace(heading), " ")
			found = strings.TrimPrefix(strings.Trim(name, "[]"), "v") == version
		case found:
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "")) + "\n", found
}
