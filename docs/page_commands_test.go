package docs

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// builtPrograms is the folder with the programs that pages use, once they are built.
var builtPrograms string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "interlock-pages-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	builtPrograms = folder
	code := m.Run()
	if err := os.RemoveAll(folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// buildPrograms builds the plugin, the registry of go-containerregistry, and the program that runs pages. kubectl only calls the plugin.
var buildPrograms = sync.OnceValue(func() error {
	for _, program := range []struct{ name, module, source string }{
		{"kubectl-addon", ".", "./cmd/kubectl-addon"},
		{"pagecommands", ".", "./hack/pagecommands"},
		{"crane", "hack/release", "github.com/google/go-containerregistry/cmd/crane"},
	} {
		command := exec.Command("go", "build", "-o", filepath.Join(builtPrograms, program.name), program.source)
		command.Dir = filepath.Join(root, program.module)
		if output, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("build %s: %w: %s", program.name, err, output)
		}
	}
	const kubectl = `#!/bin/sh
[ "$1" = addon ] || { echo "only kubectl addon is here" >&2; exit 1; }
shift
exec kubectl-addon "$@"
`
	return os.WriteFile(filepath.Join(builtPrograms, "kubectl"), []byte(kubectl), 0o700)
})

// reader runs the commands of a page in a new folder that has the docs of the checkout.
type reader struct{ folder, tools string }

func newReader(t *testing.T) reader {
	t.Helper()
	for _, name := range []string{"openssl", "curl"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skip("pages use a program that this repository does not build:", err)
		}
	}
	if err := buildPrograms(); err != nil {
		t.Fatal(err)
	}
	r := reader{t.TempDir(), t.TempDir()}
	if err := os.Symlink(filepath.Join(top(t), "docs"), filepath.Join(r.folder, "docs")); err != nil {
		t.Fatal(err)
	}
	return r
}

func top(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func (r reader) write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
}

// run runs a program in the folder. Its error has the output.
func (r reader) run(t *testing.T, environment []string, name string, args ...string) error {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir, command.WaitDelay = r.folder, 10*time.Second
	command.Env = append(os.Environ(), "PATH="+builtPrograms+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+r.tools)
	command.Env = append(command.Env, environment...)
	output, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %q: %w\n%s", name, args, err, output)
	}
	return nil
}

// runPage runs the commands of a page, with the words that stand for something replaced.
func (r reader) runPage(t *testing.T, page string, replaced ...string) error {
	t.Helper()
	copied := filepath.Join(r.tools, "page.md")
	r.write(t, copied, strings.NewReplacer(replaced...).Replace(read(t, page)))
	return r.run(t, nil, filepath.Join(builtPrograms, "pagecommands"), copied)
}

// freeAddress is an address on loopback at which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return fmt.Sprintf("localhost:%d", listener.Addr().(*net.TCPAddr).Port)
}

func TestTheWayAcrossAnAirGap(t *testing.T) {
	r, temporary := newReader(t), t.TempDir()
	r.write(t, filepath.Join(r.folder, "manifests/foreign.yaml"), "kind: List\n") // a checkout has such a folder
	t.Setenv("TMPDIR", temporary)
	if err := r.runPage(t, "docs/air-gap.md", "localhost:5000", freeAddress(t)); err != nil {
		t.Fatal(err)
	}
	for _, made := range []string{"layers/01/cluster-gateway.yaml", "inside/addons/cluster-proxy/0.8.0.yaml", "inside/package.yaml"} {
		if found, err := filepath.Glob(filepath.Join(temporary, "*", made)); err != nil || len(found) != 1 {
			t.Errorf("%s: %q, %v", made, found, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(r.folder, "*"))
	if err != nil || len(left) != 2 { // docs and manifests
		t.Errorf("the checkout has %q, %v", left, err)
	}
}
