package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// endOfBlock is the line that the shell prints after each block.
const endOfBlock = "pagecommands-block-ended"

// run runs the blocks in one bash, which ends at the first command that fails, and
// prints commands and output.
func run(ctx context.Context, page string, blocks []block, out io.Writer) error {
	folder, err := os.MkdirTemp("", "pagecommands-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	shell := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-s")
	shell.Cancel = func() error { return shell.Process.Signal(syscall.SIGTERM) }
	shell.WaitDelay = 10 * time.Second
	shell.Stderr = os.Stderr
	stdin, err := shell.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := shell.StdoutPipe()
	if err != nil {
		return err
	}
	if err := shell.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(stdout)
	for i, b := range blocks {
		// The commands are in a file, because commands that read their standard input would read the next block.
		file := filepath.Join(folder, fmt.Sprint(i))
		if err := os.WriteFile(file, []byte(b.commands), 0o600); err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s:%d %s\n%s", page, b.line, b.heading, indent(b.commands))
		fmt.Fprintf(stdin, "source %s </dev/null\nprintf '\\n%s\\n'\n", file, endOfBlock)
		printed, complete := read(lines, out)
		if !complete {
			_ = stdin.Close()
			return errors.Join(fmt.Errorf("%s:%d: a command of this block failed", page, b.line), shell.Wait())
		}
		if line := b.missing(printed); line != "" {
			_ = stdin.Close()
			return errors.Join(fmt.Errorf("%s:%d: the commands did not print this line of the page:\n%s", page, b.line, line), shell.Wait())
		}
	}
	_ = stdin.Close() // bash ends
	return shell.Wait()
}

// read returns the lines that one block prints. It returns false if bash ends before the
// block does.
func read(lines *bufio.Scanner, out io.Writer) ([]string, bool) {
	var printed []string
	for lines.Scan() {
		if lines.Text() == endOfBlock {
			return printed, true
		}
		printed = append(printed, lines.Text())
		fmt.Fprintln(out, lines.Text())
	}
	return printed, false
}

func indent(commands string) string {
	return "  $ " + strings.ReplaceAll(strings.TrimSuffix(commands, "\n"), "\n", "\n  $ ") + "\n"
}
