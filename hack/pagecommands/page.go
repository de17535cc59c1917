package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// block is a block of commands of a page.
type block struct {
	heading  string
	commands string
	// line is the number of the first line of the commands in the page, starting at 1.
	line int
	// output has the lines that the page shows as output of the commands.
	output []string
}

// parse returns the blocks of a page, in their order.
func parse(page string) []block {
	var blocks []block
	var heading, fence string
	between := 0 // lines of text since the last block of commands
	for i, line := range strings.Split(page, "\n") {
		last := len(blocks) - 1
		switch {
		case fence != "" && line == "```":
			fence = ""
		case fence == "sh":
			blocks[last].commands += line + "\n"
		case fence == "output":
			blocks[last].output = append(blocks[last].output, line)
		case fence != "":
		case line == "```sh":
			fence, between = "sh", 0
			blocks = append(blocks, block{heading: heading, line: i + 2})
		case line == "```text" && last >= 0 && between <= 1 && blocks[last].heading == heading:
			fence, between = "output", 2 // a second block fenced with ```text is no output
		case strings.HasPrefix(line, "```"):
			fence, between = line, between+1
		case strings.HasPrefix(line, "#"):
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		case strings.TrimSpace(line) != "":
			between++
		}
	}
	return blocks
}

// section returns the blocks from the heading start up to the heading end, without the
// latter. An empty start is the beginning of the page, and an empty end is its end.
func section(blocks []block, start, end string) ([]block, error) {
	find := func(heading string, fallback int) (int, error) {
		if heading == "" {
			return fallback, nil
		}
		i := slices.IndexFunc(blocks, func(b block) bool { return b.heading == heading })
		if i < 0 {
			return 0, fmt.Errorf("no commands below a heading %q", heading)
		}
		return i, nil
	}
	first, err := find(start, 0)
	if err != nil {
		return nil, err
	}
	limit, err := find(end, len(blocks))
	if err != nil {
		return nil, err
	}
	if first >= limit {
		return nil, fmt.Errorf("no commands from %q until %q", start, end)
	}
	return blocks[first:limit], nil
}

// replace returns the blocks with each word of the commands that has a value replaced by
// the value.
func replace(blocks []block, values map[string]string) []block {
	word := regexp.MustCompile(`\b[A-Z_]+\b`)
	replaced := slices.Clone(blocks)
	for i := range replaced {
		replaced[i].commands = word.ReplaceAllStringFunc(replaced[i].commands, func(match string) string {
			if value, ok := values[match]; ok {
				return value
			}
			return match
		})
	}
	return replaced
}

// missing returns the first line of the page's output that was not printed. It is empty if
// all were printed.
func (b block) missing(printed []string) string {
	next := 0
	for _, want := range b.output {
		words := strings.Fields(want)
		match := slices.IndexFunc(printed[next:], func(line string) bool {
			return slices.EqualFunc(words, strings.Fields(line), func(word, printedWord string) bool {
				return word == printedWord || word == "…"
			})
		})
		if match < 0 {
			return want
		}
		next += match + 1
	}
	return ""
}
