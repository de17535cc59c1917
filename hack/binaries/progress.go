package main

import (
	"fmt"
	"os"
	"time"
)

// progress shows the progress of a long step. On a terminal, it rewrites one line.
// Elsewhere, such as in a log, it prints a new line from time to time.
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

// follow prints status until the returned stop function is called.
func (p *progress) follow(status func() string) func() {
	interval := 15 * time.Second
	if p.terminal {
		interval = 250 * time.Millisecond
	}
	quit, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
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
		<-finished
	}
}

func (p *progress) finish(text string) {
	p.print(text)
	if p.terminal {
		fmt.Fprintln(p.out)
	}
}

func (p *progress) print(text string) {
	prefix, suffix := "", "\n"
	if p.terminal {
		prefix, suffix = "\r\033[K", ""
	}
	elapsed := time.Since(p.start).Round(time.Second)
	fmt.Fprintf(p.out, "%s%s: %s (%s)%s", prefix, p.name, text, elapsed, suffix)
}
