package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"open-cluster-management.io/interlock/pkg/cli/table"
)

// The styles of text, as terminal codes.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

const (
	indent   = "  "
	minWidth = 80
	midWidth = 120 // if the width is unknown
)

// printer writes for people: in color on a terminal, unless NO_COLOR is set.
type printer struct {
	out   io.Writer
	width int
	color bool
}

func newPrinter(out *os.File) *printer {
	p := &printer{out: out, width: midWidth}
	descriptor := int(out.Fd())
	if !term.IsTerminal(descriptor) {
		return p
	}
	p.color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if width, _, err := term.GetSize(descriptor); err == nil && width > 0 {
		p.width = max(minWidth, width)
	}
	return p
}

func (p *printer) look(look, text string) string {
	if !p.color || look == "" {
		return text
	}
	return "\x1b[" + look + "m" + text + "\x1b[0m"
}

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(p.out, format+"\n", args...)
}

func (p *printer) title(text string) {
	p.line("\n%s\n", p.look(bold, text))
}

// progress shows that some work begins. The function that it returns shows that the work is done, and how long it
// took.
func (p *printer) progress(title string) func(error) {
	began := time.Now()
	fmt.Fprintf(p.out, "%s%s ", indent, title)
	return func(err error) {
		dots := strings.Repeat(".", max(3, min(p.width, midWidth)-utf8.RuneCountInString(title)-14))
		outcome := brief(time.Since(began))
		switch {
		case errors.Is(err, errInterrupted):
			outcome = "interrupted"
		case err != nil:
			outcome = p.look(red, "failed")
		}
		p.line("%s %s", p.look(dim, dots), outcome)
	}
}

// paragraph writes text in lines that fit.
func (p *printer) paragraph(look, prefix, text string) {
	for _, line := range wrap(text, min(p.width, midWidth)-utf8.RuneCountInString(prefix)) {
		p.line("%s%s", prefix, p.look(look, line))
	}
}

// table writes rows in columns. Each line has the look of its row.
func (p *printer) table(heading []string, rows [][]string, looks []string, below func(row int)) {
	for i, line := range lines(heading, rows) {
		if i == 0 {
			p.line("%s%s", indent, p.look(dim, line))
			continue
		}
		p.line("%s%s", indent, p.look(looks[i-1], line))
		if below != nil {
			below(i - 1)
		}
	}
}

// lines returns the lines of a table, the heading first.
func lines(heading []string, rows [][]string) []string {
	var text bytes.Buffer
	// Writing to memory cannot fail.
	_ = table.Print(&text, heading, rows)
	rendered := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	for i := range rendered {
		rendered[i] = strings.TrimRight(rendered[i], " ")
	}
	return rendered
}

// wrap breaks text between words into lines of at most width characters. Only a longer word exceeds that. Line breaks
// in the text stay.
func wrap(text string, width int) []string {
	var wrapped []string
	for _, part := range strings.Split(text, "\n") {
		line := ""
		for _, word := range strings.Fields(part) {
			switch {
			case line == "":
				line = word
			case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width:
				wrapped = append(wrapped, line)
				line = word
			default:
				line += " " + word
			}
		}
		wrapped = append(wrapped, line)
	}
	return wrapped
}
