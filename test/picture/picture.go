// Package picture draws the output of a command on a terminal, as a picture for documents.
package picture

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"open-cluster-management.io/interlock/pkg/cli/terminal"
)

// Sizes in pixels: of a character, of a line, and of the window around the lines.
const (
	character = 8.4
	fontSize  = 14
	line      = 19
	margin    = 18
	bar       = 34
)

// fills maps the colors of a terminal to colors on a light background.
var fills = map[string]string{
	string(terminal.Red): "#b3261e", string(terminal.Green): "#1a7f37", string(terminal.Yellow): "#8a5a00",
}

const ink = "#1f2328"

var (
	escapes = regexp.MustCompile("\x1b\\[[0-9]*m")
	// words are separated by two spaces or more, so that each has its place with any font.
	words = regexp.MustCompile(`\S+(?: \S+)*`)
)

// SVG draws a window with a command, and its output on a screen with that number of columns. It refers to no other
// file, and the same output gives the same bytes.
func SVG(command, printed string, columns int) string {
	lines := folded("$ "+command, columns)
	for text := range strings.SplitSeq(strings.TrimRight(printed, "\n"), "\n") {
		lines = append(lines, folded(text, columns)...)
	}
	width, height := float64(columns)*character+2*margin, bar+len(lines)*line+margin
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" viewBox="0 0 %.0f %d" role="img" aria-labelledby="title" `+
		`font-family="ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace" font-size="%d">`+"\n", width, height, width, height, fontSize)
	fmt.Fprintf(&out, "<title id=\"title\">%s</title>\n", escaped(command))
	fmt.Fprintf(&out, "<desc>%s</desc>\n", escaped(escapes.ReplaceAllString(printed, "")))
	fmt.Fprintf(&out, `<rect x="0.5" y="0.5" width="%.0f" height="%d" rx="8" fill="#ffffff" stroke="#c4c9d0"/>`+"\n", width-1, height-1)
	fmt.Fprintf(&out, `<path d="M0.5,%d V8.5 a8,8 0 0 1 8,-8 H%.1f a8,8 0 0 1 8,8 V%d z" fill="#eef0f3" stroke="#c4c9d0"/>`+"\n", bar-8, width-8.5, bar-8)
	fmt.Fprintf(&out, `<text x="%.1f" y="18" text-anchor="middle" font-size="12" fill="#57606a">%d columns</text>`+"\n", width/2, columns)
	fill := ink // a color continues on the next line
	for i, content := range lines {
		fill = draw(&out, content, bar+line*i+line/2+6, fill)
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// folded returns a line in the form that a terminal shows: a long line continues on the next one.
func folded(content string, columns int) []string {
	var lines []string
	if strings.Contains(content, "\x1b") {
		return []string{content}
	}
	for utf8.RuneCountInString(content) > columns {
		head := string([]rune(content)[:columns])
		lines, content = append(lines, head), content[len(head):]
	}
	return append(lines, content)
}

// draw writes the words of a line at their places, in their colors, and returns the last color.
func draw(out *bytes.Buffer, content string, y int, fill string) string {
	column := 0
	for len(content) > 0 {
		next := escapes.FindStringIndex(content)
		if next == nil {
			next = []int{len(content), len(content)}
		}
		plain := content[:next[0]]
		for _, word := range words.FindAllStringIndex(plain, -1) {
			shown, start := plain[word[0]:word[1]], column+utf8.RuneCountInString(plain[:word[0]])
			fmt.Fprintf(out, `<text x="%.1f" y="%d" textLength="%.1f" fill="%s">%s</text>`+"\n",
				margin+float64(start)*character, y, float64(utf8.RuneCountInString(shown))*character, fill, escaped(shown))
		}
		column += utf8.RuneCountInString(plain)
		if color := content[next[0]:next[1]]; color != "" {
			fill = ink
			if mapped, ok := fills[color]; ok {
				fill = mapped
			}
		}
		content = content[next[1]:]
	}
	return fill
}

func escaped(text string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(text)) // writing to a buffer cannot fail
	return out.String()
}

// Screen is a terminal for tests.
type Screen struct {
	bytes.Buffer
	Terminal terminal.Screen
}

// Screen implements terminal.Output.
func (s *Screen) Screen() terminal.Screen { return s.Terminal }

// Compare compares a file with its expected content. With the flag -update of the tests, it writes the file instead.
func Compare(t *testing.T, path, want string) {
	t.Helper()
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: -update writes it", err)
	}
	if string(got) != want {
		t.Errorf("%s is not current: -update writes it", path)
	}
}
