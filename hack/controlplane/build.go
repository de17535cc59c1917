package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
)

const (
	kubernetesModule = "k8s.io/kubernetes"
	versionPackage   = "k8s.io/component-base/version"
	// ldflagsFormat takes the version package and the version's three forms.
	// Unstamped, an API server says v0.0.0 and clients that look refuse it.
	ldflagsFormat = "-s -w -X %[1]s.gitVersion=%[2]s -X %[1]s.gitMajor=%[3]s -X %[1]s.gitMinor=%[4]s"
)

// build compiles all in one go command, so that they share what they have in
// common.
func (s set) build(source, bin string) error {
	ldflags, err := versionFlags(source)
	if err != nil {
		return err
	}
	shown := newProgress(os.Stdout)
	stale, err := s.stalePackages(source, shown)
	if err != nil {
		return err
	}
	var compiled atomic.Int64
	stop := shown.follow(func() string {
		if done := compiled.Load(); int(done) < len(stale) {
			return fmt.Sprintf("compiled %d of %d packages", done, len(stale))
		}
		return "linking"
	})
	// -v names each package as it is compiled.
	args := append([]string{"build", "-v", "-buildvcs=false", "-ldflags", ldflags, "-o", bin + string(os.PathSeparator)}, s.packages()...)
	err = runGo(source, io.Discard, func(line string) bool {
		if stale[line] {
			compiled.Add(1)
		}
		return stale[line]
	}, args...)
	stop()
	if err != nil {
		return err
	}
	shown.finish(fmt.Sprintf("built %s in %s", strings.Join(s.binaries, " and "), bin))
	return nil
}

// versionFlags stamps the version that the module's go.mod asks for.
func versionFlags(source string) (string, error) {
	var out bytes.Buffer
	if err := runGo(source, &out, nil, "list", "-m", "-f", "{{.Version}}", kubernetesModule); err != nil {
		return "", err
	}
	version := strings.TrimSpace(out.String())
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) != 3 {
		return "", fmt.Errorf("%s has version %q, which is not major.minor.patch", kubernetesModule, version)
	}
	return fmt.Sprintf(ldflagsFormat, versionPackage, version, parts[0], parts[1]), nil
}

// stalePackages lists what the build cache does not hold yet, and downloads
// the modules on the way.
func (s set) stalePackages(source string, shown *progress) (map[string]bool, error) {
	var downloads atomic.Int64
	stop := shown.follow(func() string {
		return fmt.Sprintf("looking at what there is to do, %d modules downloaded", downloads.Load())
	})
	defer stop()
	var out bytes.Buffer
	args := append([]string{"list", "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}"}, s.packages()...)
	err := runGo(source, &out, func(line string) bool {
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

func (s set) packages() []string {
	paths := make([]string, 0, len(s.binaries))
	for _, name := range s.binaries {
		paths = append(paths, "./"+name)
	}
	return paths
}

// runGo runs the go command in dir. Lines of its standard error that expected
// takes are progress; all others end up in the error when it fails.
func runGo(dir string, stdout io.Writer, expected func(line string) bool, args ...string) error {
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
		if expected == nil || !expected(lines.Text()) {
			complaints = append(complaints, lines.Text())
		}
	}
	if err := errors.Join(lines.Err(), cmd.Wait()); err != nil {
		return fmt.Errorf("go %s in %s: %w\n%s", args[0], dir, err, strings.Join(complaints, "\n"))
	}
	return nil
}
