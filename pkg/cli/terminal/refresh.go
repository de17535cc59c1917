package terminal

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"open-cluster-management.io/interlock/pkg/text"
)

// clearScreen goes to the beginning of the screen, and clears it.
const clearScreen = "\x1b[H\x1b[2J"

// Refresher shows a page again and again. On a screen, each page replaces the last one. To other output, it only writes pages with
// another content.
type Refresher struct {
	out  io.Writer
	last any
}

// NewRefresher returns a refresher that has shown nothing yet.
func NewRefresher(out io.Writer) *Refresher { return &Refresher{out: out} }

// Show shows a page, with the time of its content above it. The content is compared, so it has no times that always change.
func (r *Refresher) Show(content any, now time.Time, write func(io.Writer) error) error {
	screen := ScreenOf(r.out)
	if screen.Width == 0 && reflect.DeepEqual(r.last, content) {
		return nil
	}
	page := &page{screen: screen}
	fmt.Fprintf(page, "%s, until you interrupt it:\n", now.UTC().Format("2006-01-02 15:04:05 MST"))
	if err := write(page); err != nil {
		return err
	}
	written := page.String()
	switch {
	case screen.Width > 0:
		written = clearScreen + fitted(written, screen)
	case r.last != nil:
		written = "\n" + written
	}
	r.last = content
	_, err := io.WriteString(r.out, written)
	return err
}

// page is the output of a page before it is shown.
type page struct {
	bytes.Buffer
	screen Screen
}

// Screen implements Output.
func (p *page) Screen() Screen { return p.screen }

// fitted returns a page with the lines that fit the screen, and a line that counts the others.
func fitted(page string, screen Screen) string {
	if screen.Height == 0 {
		return page
	}
	lines := strings.Split(strings.TrimRight(page, "\n"), "\n")
	room := screen.Height - 2 // the cursor and the count have a line each
	for i, line := range lines {
		room -= max(1, (Width(line)+screen.Width-1)/screen.Width)
		if room < 0 {
			return strings.Join(append(lines[:i:i], "… "+text.Count(len(lines)-i, "more line")), "\n") + "\n"
		}
	}
	return page
}
