package terminal

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"open-cluster-management.io/interlock/pkg/text"
)

// Progress shows how far something is: on a screen in one line that changes, else in a line for each change.
type Progress struct {
	out   io.Writer
	width int
	drawn bool
}

// NewProgress returns a progress that shows nothing yet.
func NewProgress(out io.Writer) *Progress { return &Progress{out: out, width: Of(out).Width} }

// clearLine goes back to the beginning of the line, and clears it.
const clearLine = "\r\x1b[K"

// Show shows a line instead of the one before.
func (p *Progress) Show(line string) {
	if p.width == 0 {
		fmt.Fprintln(p.out, line)
		return
	}
	p.drawn = true
	fmt.Fprint(p.out, clearLine+text.Cut(line, p.width-1))
}

// Done ends the line that was shown last.
func (p *Progress) Done() {
	if p.drawn {
		fmt.Fprintln(p.out)
	}
	p.drawn = false
}

// Below returns the output for what comes after a line that changes. It ends that line.
func (p *Progress) Below() io.Writer { return below{p} }

type below struct{ progress *Progress }

func (b below) Write(content []byte) (int, error) {
	b.progress.Done()
	return b.progress.out.Write(content)
}

// Screen implements On.
func (b below) Screen() Screen { return Of(b.progress.out) }

// Answerer is an input that knows whether a person answers, for what is no file.
type Answerer interface{ Answers() bool }

// Answers reports whether a person can answer a question.
func Answers(in io.Reader) bool {
	if known, ok := in.(Answerer); ok {
		return known.Answers()
	}
	file, ok := in.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
