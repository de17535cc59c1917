// Package terminal is what the plugin may do because a person looks at its output: use
// colors, and fit it to the width of the screen. What a program reads is never changed.
package terminal

import (
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Color of text.
type Color string

// The colors.
const (
	None   Color = ""
	Red    Color = "\x1b[31m"
	Green  Color = "\x1b[32m"
	Yellow Color = "\x1b[33m"
	reset        = "\x1b[0m"
)

// Screen is where output is shown. The zero value is none: a pipe or a file.
type Screen struct {
	// Width is in characters.
	Width   int
	Colored bool
}

// On is an output that knows its screen, for what is no file.
type On interface{ Screen() Screen }

// Of returns the screen that an output is shown on. https://no-color.org turns colors off.
func Of(out io.Writer) Screen {
	if known, ok := out.(On); ok {
		return known.Screen()
	}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return Screen{}
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		width = 0
	}
	return Screen{Width: width, Colored: colored()}
}

func colored() bool {
	_, isWindowsTerminal := os.LookupEnv("WT_SESSION")
	knows := os.Getenv("TERM") != "" && os.Getenv("TERM") != "dumb"
	return os.Getenv("NO_COLOR") == "" && (knows || runtime.GOOS == "windows" && isWindowsTerminal)
}

// Paint colors text on a screen that has colors.
func (s Screen) Paint(color Color, text string) string {
	if !s.Colored || color == None || text == "" {
		return text
	}
	return string(color) + text + reset
}

var colors = regexp.MustCompile("\x1b\\[[0-9]*m")

// length is how many characters a text has on a screen, where colors have none.
func length(text string) int { return utf8.RuneCountInString(colors.ReplaceAllString(text, "")) }

// Wrap breaks a text between words, so that its lines fit the screen behind an indent of so
// many characters. Its second line and all after it begin with the indent.
func (s Screen) Wrap(text string, indent int) string {
	const least = 20 // a narrower column is no easier to read
	room := s.Width - indent
	if s.Width == 0 || room < least {
		return text
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && length(line)+1+length(word) > room {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return strings.Join(append(lines, line), "\n"+strings.Repeat(" ", indent))
}
