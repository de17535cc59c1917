// Package process runs Interlock's binaries as separate processes, for tests that run the same programs as a user.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// patience is how long a process may take to stop after SIGTERM.
const patience = 20 * time.Second

// Process is a running binary whose output goes to a file.
type Process struct {
	name    string
	log     string
	command *exec.Cmd
	exited  chan struct{}
	err     error
}

// Command is a command to run. Env replaces the environment of this process, unless it is nil.
type Command struct {
	Path, Log string
	Args, Env []string
}

// Start runs the binary at path with its output at the end of the file log. On Linux, the process is killed if its
// parent dies.
func Start(path, log string, args ...string) (*Process, error) {
	return Command{Path: path, Log: log, Args: args}.Start()
}

// Start runs the command with its output at the end of the file Log.
func (c Command) Start() (*Process, error) {
	out, err := os.OpenFile(c.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	command := exec.Command(c.Path, c.Args...)
	command.Stdout, command.Stderr, command.Env = out, out, c.Env
	command.SysProcAttr = boundToParent()
	if err := command.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", c.Path, err), out.Close())
	}
	p := &Process{name: c.Path, log: c.Log, command: command, exited: make(chan struct{})}
	go func() {
		p.err = command.Wait()
		_ = out.Close() // the process has ended, so nothing more can be written
		close(p.exited)
	}()
	return p, nil
}

// PID returns the process ID.
func (p *Process) PID() int { return p.command.Process.Pid }

// Kill ends the process at once, like a crash.
func (p *Process) Kill() error {
	if err := p.command.Process.Kill(); err != nil {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	<-p.exited
	return nil
}

// Done is closed when the process has ended, by itself or not.
func (p *Process) Done() <-chan struct{} { return p.exited }

// Err returns how the process ended. It is nil if the process exited with 0. Call it only after Done is closed.
func (p *Process) Err() error { return p.err }

// Stop makes the process end and waits until it has. It fails if the process had ended before, had to be killed, or
// did not exit with 0.
func (p *Process) Stop(ctx context.Context) error {
	select {
	case <-p.exited:
		return errors.Join(fmt.Errorf("%s ended by itself; its output is in %s", p.name, p.log), p.err)
	default:
	}
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-p.exited:
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("%s does not stop; killed; its output is in %s", p.name, p.log), p.command.Process.Kill())
	}
	if p.err != nil {
		return fmt.Errorf("%s did not stop cleanly: %w; its output is in %s", p.name, p.err, p.log)
	}
	return nil
}
