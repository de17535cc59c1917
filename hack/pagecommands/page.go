package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// block is some commands of a page.
type block struct {
	heading  string
	commands string
	// line is where the commands begin in the page, from 1.
	line int
	// output has the lines that the page shows for them.
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
			fence, between = "output", 2 // another one is none
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

// section returns the blocks from one heading until another one; an empty one is
// the page's beginning or end.
func section(blocks []block, from, until string) ([]block, error) {
	find := func(wanted string, otherwise int) (int, error) {
		if wanted == "" {
			return otherwise, nil
		}
		i := slices.IndexFunc(blocks, func(b block) bool { return b.heading == wanted })
		if i < 0 {
			return 0, fmt.Errorf("no commands below a heading %q", wanted)
		}
		return i, nil
	}
	first, err := find(from, 0)
	if err != nil {
		return nil, err
	}
	end, err := find(until, len(blocks))
	if err != nil {
		return nil, err
	}
	if first >= end {
		return nil, fmt.Errorf("no commands from %q until %q", from, until)
	}
	return blocks[first:end], nil
}

// replace returns the blocks with a value for each word of the commands that stands
// for one.
func replace(blocks []block, values map[string]string) []block {
	word := regexp.MustCompile(`\b[A-Z_]+\b`)
	replaced := slices.Clone(blocks)
	for i := range replaced {
		replaced[i].commands = word.ReplaceAllStringFunc(replaced[i].commands, func(found string) string {
			if value, known := values[found]; known {
				return value
			}
			return found
		})
	}
	return replaced
}

// missing returns the first line of the page's output that was not printed; empty
// when all were.
func (b block) missing(printed []string) string {
	next := 0
	for _, wanted := range b.output {
		words := strings.Fields(wanted)
		found := slices.IndexFunc(printed[next:], func(line string) bool {
			return slices.EqualFunc(words, strings.Fields(line), func(word, other string) bool { return word == other || word == "…" })
		})
		if found < 0 {
			return wanted
		}
		next += found + 1
	}
	return ""
}
