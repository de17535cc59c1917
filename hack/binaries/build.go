package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// ldflagsFormat is the format of the linker flags. Its arguments are the package of the
// variables, and then name and value of the variables for version, major and minor.
const ldflagsFormat = "-s -w -X %[1]s.%[2]s=%[3]s -X %[1]s.%[4]s=%[5]s -X %[1]s.%[6]s=%[7]s"

// build compiles all packages in one go command, because they share dependencies.
func (s set) build(dir string) error {
	ldflags, err := s.ldflags()
	if err != nil {
		return err
	}
	shown := newProgress(s.name, os.Stdout)
	stale, err := s.stalePackages(shown)
	if err != nil {
		return err
	}
	var compiled atomic.Int64
	stop := shown.follow(func() string {
		if count := compiled.Load(); int(count) < len(stale) {
			return fmt.Sprintf("compiled %d of %d packages", count, len(stale))
		}
		return "linking"
	})
	// -v names each package as it is compiled.
	args := append([]string{"build", "-v", "-buildvcs=false", "-ldflags", ldflags, "-o", dir + string(os.PathSeparator)}, s.packages...)
	err = runGo(s.source, io.Discard, func(line string) bool {
		if stale[line] {
			compiled.Add(1)
		}
		return stale[line]
	}, args...)
	stop()
	if err == nil {
		err = s.link(dir)
	}
	if err == nil && len(s.postBuild) > 0 {
		err = runGo(s.source, io.Discard, nil, append(slices.Clone(s.postBuild), dir)...)
	}
	if err != nil {
		return err
	}
	shown.finish(fmt.Sprintf("built %s in %s", strings.Join(s.binaries(), ", "), dir))
	return nil
}

// link creates the set's links, and replaces existing files of their names.
func (s set) link(dir string) error {
	for _, name := range s.links {
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if err := os.Symlink(filepath.Base(s.packages[0]), path); err != nil {
			return err
		}
	}
	return nil
}

// ldflags returns the linker flags that set the version that the module's go.mod requires.
func (s set) ldflags() (string, error) {
	if s.version.module == "" {
		return "-s -w", nil
	}
	var out bytes.Buffer
	format := "{{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}}"
	if err := runGo(s.source, &out, nil, "list", "-m", "-f", format, s.version.module); err != nil {
		return "", err
	}
	version := strings.TrimSpace(out.String())
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) != 3 {
		return "", fmt.Errorf("%s has version %q, which is not major.minor.patch", s.version.module, version)
	}
	return fmt.Sprintf(ldflagsFormat, s.version.variables,
		s.version.version, version, s.version.major, parts[0], s.version.minor, parts[1]), nil
}

// stalePackages returns the packages that are missing in the build cache. It also
// downloads the modules.
func (s set) stalePackages(shown *progress) (map[string]bool, error) {
	var downloads atomic.Int64
	stop := shown.follow(func() string {
		return fmt.Sprintf("looking for what to compile, %d modules downloaded", downloads.Load())
	})
	defer stop()
	var out bytes.Buffer
	args := append([]string{"list", "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}"}, s.packages...)
	err := runGo(s.source, &out, func(line string) bool {
		isDownload := strings.HasPrefix(line, "go: downloading ")
		if isDownload {
			downloads.Add(1)
		}
		return isDownload
	}, args...)
	if err != nil {
		return nil, err
	}
	stale := map[string]bool{}
	for _, path := range strings.Fields(out.String()) {
		stale[path] = true
	}
	return stale, nil
}

// runGo runs the go command in dir. isProgress reports whether a line of its standard
// error is progress; it may be nil. All other lines are part of the error when it fails.
func runGo(dir string, stdout io.Writer, isProgress func(line string) bool, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	// Static binaries, and no C compiler needed.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout = stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var complaints []string
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if isProgress == nil || !isProgress(lines.Text()) {
			complaints = append(complaints, lines.Text())
		}
	}
	if err := errors.Join(lines.Err(), cmd.Wait()); err != nil {
		return fmt.Errorf("go %s in %s: %w\n%s", args[0], dir, err, strings.Join(complaints, "\n"))
	}
	return nil
}
