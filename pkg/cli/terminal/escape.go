// Package terminal makes text that others wrote safe to print: a message of a
// condition must not move the cursor, change colors or set a window's title.
package terminal

import (
	"io"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/cli-runtime/pkg/printers"
)

// Escape returns the text with every control and formatting character written out.
// Line breaks and tabs stay. ESC becomes ^[, as kubectl prints it.
func Escape(text string) string {
	var escaped strings.Builder
	for _, r := range text {
		switch {
		case unicode.IsGraphic(r) || r == '\n' || r == '\t':
			escaped.WriteRune(r)
		case r == '\x1b' || r == '\r':
			escaped.WriteString(printers.EscapeTerminal(string(r)))
		default:
			escaped.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return escaped.String()
}

// NewWriter returns a writer that escapes what is written to it. Each write has to
// contain whole characters.
func NewWriter(out io.Writer) io.Writer { return writer{out} }

type writer struct{ out io.Writer }

func (w writer) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.out, Escape(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}
