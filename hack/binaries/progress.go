package main

import (
	"fmt"
	"os"
	"time"
)

// progress shows how far a long step is: on a terminal by rewriting one
// line, elsewhere (a log) by a new line now and then.
type progress struct {
	name     string
	out      *os.File
	terminal bool
	start    time.Time
}

func newProgress(name string, out *os.File) *progress {
	info, err := out.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0
	return &progress{name: name, out: out, terminal: terminal, start: time.Now()}
}

// follow prints status until the returned function is called.
func (p *progress) follow(status func() string) (stop func()) {
	interval := 15 * time.Second
	if p.terminal {
		interval = 250 * time.Millisecond
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				p.print(status())
			case <-quit:
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

func (p *progress) finish(text string) {
	p.print(text)
	if p.terminal {
		fmt.Fprintln(p.out)
	}
}

func (p *progress) print(text string) {
	before, after := "", "\n"
	if p.terminal {
		before, after = "\r\033[K", ""
	}
	elapsed := time.Since(p.start).Round(time.Second)
	fmt.Fprintf(p.out, "%s%s: %s (%s)%s", before, p.name, text, elapsed, after)
}
