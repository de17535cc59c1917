// Package terminal adapts output to the screen of a person: it adds colors, and fits lines to the width. Output that a program reads
// stays unchanged.
package terminal

import (
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"

	"golang.org/x/term"
)

// Color of text.
type Color string

// The colors.
const (
	NoColor Color = ""
	Red     Color = "\x1b[31m"
	Green   Color = "\x1b[32m"
	Yellow  Color = "\x1b[33m"
	reset         = "\x1b[0m"
)

// Screen is the screen that shows an output. The zero value stands for a pipe or a file.
type Screen struct {
	// Width is in columns, and Height in lines. Height is zero if it is not known.
	Width, Height int
	Colored       bool
}

// Output is an output on a screen. An *os.File need not implement it.
type Output interface{ Screen() Screen }

// ScreenOf returns the screen of an output. https://no-color.org turns colors off.
func ScreenOf(out io.Writer) Screen {
	if output, ok := out.(Output); ok {
		return output.Screen()
	}
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return Screen{}
	}
	width, height, err := term.GetSize(int(file.Fd()))
	if err != nil {
		width, height = 0, 0
	}
	return Screen{Width: width, Height: height, Colored: colored()}
}

func colored() bool {
	_, isWindowsTerminal := os.LookupEnv("WT_SESSION")
	hasColors := os.Getenv("TERM") != "" && os.Getenv("TERM") != "dumb"
	return os.Getenv("NO_COLOR") == "" && (hasColors || runtime.GOOS == "windows" && isWindowsTerminal)
}

// Paint colors text on a screen that has colors.
func (s Screen) Paint(color Color, text string) string {
	if !s.Colored || color == NoColor || text == "" {
		return text
	}
	return string(color) + text + reset
}

var colors = regexp.MustCompile("\x1b\\[[0-9]*m")

// Wrap breaks a text between words, so that its lines fit the screen. All lines but the first begin with an indent of spaces.
func (s Screen) Wrap(text string, indent int) string {
	const minWidth = 20 // A narrower column is not easier to read than an unwrapped text.
	room := s.Width - indent
	if s.Width == 0 || room < minWidth {
		return text
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && Width(line)+1+Width(word) > room {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return strings.Join(append(lines, line), "\n"+strings.Repeat(" ", indent))
}
