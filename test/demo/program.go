package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"open-cluster-management.io/interlock/test/process"
)

// program is a process of the demo. If it ends by itself, the demo ends, too. With mayEnd it does not, because a user
// may stop processes that keep running.
type program struct {
	*process.Process
	stopping, mayEnd atomic.Bool
}

// run starts a program. Its output goes to a log of that name.
func (w *world) run(name, path string, args ...string) (*program, error) {
	log := filepath.Join(w.logs, name+".log")
	started, err := process.Start(path, log, args...)
	if err != nil {
		return nil, err
	}
	p := &program{Process: started}
	go func() {
		<-p.Done()
		if !p.stopping.Load() && !p.mayEnd.Load() {
			w.abort(fmt.Errorf("%s ended by itself; its output is in %s", name, log))
		}
	}()
	return p, nil
}

// end ends the program and waits for its end.
func (p *program) end() error {
	if p == nil {
		return errors.New("it does not run")
	}
	if p.stopping.Swap(true) {
		return nil
	}
	select {
	case <-p.Done():
		return nil // it ended by itself, which was reported or allowed
	default:
	}
	// This is not the demo's context, because that has ended when everything is taken down.
	return p.Stop(context.Background())
}
