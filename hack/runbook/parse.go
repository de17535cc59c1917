package main

import (
	"fmt"
	"regexp"
	"strings"
)

// width is the longest line of prose. Commands and words are not broken.
const width = 96

var (
	heading = regexp.MustCompile("(?m)^(?:### `?([A-Za-z]+)`?|## .*)$")
	row     = regexp.MustCompile(`(?m)^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$`)
	name    = regexp.MustCompile("`([A-Z][A-Za-z]+)`")
	link    = regexp.MustCompile(`\[([^\]]+)\]\(([^)]*)\)`)
	// word matches text that stays on one line: code, or characters without a space.
	word = regexp.MustCompile("(?:`[^`]*`|[^\\s`])+")
)

// parse returns the entries of the page as plain text, by the names of alerts, verdicts and reasons.
func parse(page string) (map[string]string, error) {
	entries := map[string]string{}
	add := func(name, entry string) error {
		if entries[name] != "" {
			return fmt.Errorf("%s has two entries", name)
		}
		entries[name] = name + "\n\n" + strings.TrimSpace(entry) + "\n" + footnote(entry)
		return nil
	}
	headings := heading.FindAllStringSubmatchIndex(page, -1)
	for i, match := range headings {
		end := len(page)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		body := page[match[1]:end]
		switch {
		case match[2] >= 0:
			if err := add(page[match[2]:match[3]], plain(body)); err != nil {
				return nil, err
			}
		case page[match[0]:match[1]] == "## Reasons":
			for _, cells := range row.FindAllStringSubmatch(body, -1) {
				for _, reason := range name.FindAllStringSubmatch(cells[1], -1) {
					if err := add(reason[1], plain("Meaning: "+cells[2]+"\n\nRepair: "+cells[3])); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("no entries: expected headings such as %q", "### InterlockDown")
	}
	return entries, nil
}

// footnote explains the short names in an entry, which the page explains at its top.
func footnote(entry string) string {
	var notes []string
	for _, short := range []struct{ name, long string }{{"CMA", "ClusterManagementAddOn"}, {"MCA", "ManagedClusterAddOn"}} {
		if regexp.MustCompile(`\b` + short.name + `s?\b`).MatchString(entry) {
			notes = append(notes, short.name+" is short for "+short.long+".")
		}
	}
	if len(notes) == 0 {
		return ""
	}
	return "\n" + strings.Join(notes, " ") + "\n"
}

// plain converts Markdown to text for a terminal: without emphasis and links, commands indented, and prose wrapped.
func plain(markdown string) string {
	var text strings.Builder
	code := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
		case code:
			text.WriteString("    " + line + "\n")
		default:
			line = link.ReplaceAllStringFunc(strings.ReplaceAll(line, "**", ""), unlink)
			text.WriteString(wrap(line) + "\n")
		}
	}
	return text.String()
}

// unlink returns the text of a link, and the page that it leads to. The glossary and this page are no reading for
// somebody who repairs something.
func unlink(markdown string) string {
	parts := link.FindStringSubmatch(markdown)
	if strings.HasPrefix(parts[2], "#") || strings.HasPrefix(parts[2], "glossary.md") {
		return parts[1]
	}
	return parts[1] + " (docs/" + parts[2] + ")"
}

func wrap(line string) string {
	indent := ""
	if strings.HasPrefix(line, "- ") {
		indent = "  "
	}
	var lines []string
	current := ""
	for _, next := range word.FindAllString(line, -1) {
		switch {
		case current == "":
			current = next
		case len(current)+1+len(next) > width:
			lines = append(lines, current)
			current = indent + next
		default:
			current += " " + next
		}
	}
	return strings.Join(append(lines, current), "\n")
}
