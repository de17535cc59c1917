package terminal

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Progress shows the progress of an operation. A screen has a single line that changes. Other output has a line for each change.
type Progress struct {
	out   io.Writer
	width int
	drawn bool
}

// NewProgress returns a progress that shows nothing yet.
func NewProgress(out io.Writer) *Progress { return &Progress{out: out, width: ScreenOf(out).Width} }

// clearLine goes back to the beginning of the line, and clears it.
const clearLine = "\r\x1b[K"

// Show shows a line. On a screen, it replaces the last line.
func (p *Progress) Show(line string) {
	if p.width == 0 {
		fmt.Fprintln(p.out, line)
		return
	}
	p.drawn = true
	fmt.Fprint(p.out, clearLine+Cut(line, p.width-1))
}

// Finish ends the line that was shown last.
func (p *Progress) Finish() {
	if p.drawn {
		fmt.Fprintln(p.out)
	}
	p.drawn = false
}

// Below returns an output that ends the changing line before it writes.
func (p *Progress) Below() io.Writer { return outputBelow{p} }

type outputBelow struct{ progress *Progress }

func (b outputBelow) Write(content []byte) (int, error) {
	b.progress.Finish()
	return b.progress.out.Write(content)
}

// Screen implements Output.
func (b outputBelow) Screen() Screen { return ScreenOf(b.progress.out) }

// Answerer is an input that reports whether a person can answer. An *os.File need not implement it.
type Answerer interface{ Answers() bool }

// Answers reports whether a person can answer a question.
func Answers(input io.Reader) bool {
	if answerer, ok := input.(Answerer); ok {
		return answerer.Answers()
	}
	file, ok := input.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
