package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// relativeLink matches the target of a Markdown link that is relative to the changelog.
var relativeLink = regexp.MustCompile(`\]\(([^():#]+(?:#[^()]*)?)\)`)

// notes returns the version's section of the changelog. Unless strict is set, a version
// without a section gets the section of unreleased changes.
func (o *order) notes() (string, error) {
	content, err := os.ReadFile(filepath.Join(o.repository, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	text, ok := section(string(content), o.plain)
	if !ok {
		if o.strict {
			return "", fmt.Errorf("CHANGELOG.md has no section %q", "## "+o.plain)
		}
		text, _ = section(string(content), "Unreleased")
		text = fmt.Sprintf("CHANGELOG.md has no section for %s. These changes are not released.\n\n%s", o.tag, text)
	}
	if o.source != "" { // release notes are not in the folder of the changelog
		text = relativeLink.ReplaceAllString(text, "]("+o.source+"/blob/"+o.tag+"/$1)")
	}
	return "## Interlock " + o.tag + "\n\n" + text, nil
}

// section returns the text below the heading of a version: "## 0.1.0". The version may be in
// brackets, and a date may follow it. It returns false if no heading has the version.
func section(changelog, version string) (string, bool) {
	var lines []string
	inSection := false
	for line := range strings.Lines(changelog) {
		heading, isHeading := strings.CutPrefix(line, "## ")
		switch {
		case isHeading && inSection:
			return strings.TrimSpace(strings.Join(lines, "")) + "\n", true
		case isHeading:
			name, _, _ := strings.Cut(strings.TrimSpace(heading), " ")
			inSection = strings.TrimPrefix(strings.Trim(name, "[]"), "v") == version
		case inSection:
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "")) + "\n", inSection
}
