package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"open-cluster-management.io/interlock/test/process"
)

// program is a process of the demo's. Should it end unasked, the demo ends,
// unless it may: a user is free to play with what keeps running.
type program struct {
	*process.Process
	asked, may atomic.Bool
}

// run starts a program; its output goes to a log of the given name.
func (w *world) run(name, path string, args ...string) (*program, error) {
	log := filepath.Join(w.logs, name+".log")
	started, err := process.Start(path, log, args...)
	if err != nil {
		return nil, err
	}
	p := &program{Process: started}
	go func() {
		<-p.Done()
		if !p.asked.Load() && !p.may.Load() {
			w.abort(fmt.Errorf("%s ended by itself; its output is in %s", name, log))
		}
	}()
	return p, nil
}

// end ends the program and waits until it has.
func (p *program) end() error {
	if p == nil {
		return errors.New("it does not run")
	}
	if p.asked.Swap(true) {
		return nil
	}
	select {
	case <-p.Done():
		return nil // by itself, which has been told of, or was welcome
	default:
	}
	// Not the demo's context: that has ended when everything is taken down.
	return p.Stop(context.Background())
}
