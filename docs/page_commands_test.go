package docs

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

// programVariable is the environment variable with the name of a program. With it, this test acts as that program.
const programVariable = "INTERLOCK_TEST_ACTS_AS"

func TestMain(m *testing.M) {
	if program, ok := programs[os.Getenv(programVariable)]; ok {
		os.Exit(program(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// programs are substitutes for the programs that pages use, because not every machine has the real programs. They support
// the arguments on the pages only.
var programs = map[string]func(args []string) int{
	"kubectl": kubectl, "kubectl-addon": plugged, "crane": crane, "openssl": openssl, "curl": curl,
}

// kubectl runs the plugin of this repository.
func kubectl(args []string) int {
	if len(args) == 0 || args[0] != "addon" {
		return fail("kubectl %q: only kubectl addon is here", args)
	}
	return plugged(args[1:])
}

func plugged(args []string) int {
	command := cli.NewCommand(genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr})
	command.SetArgs(args)
	return cmdline.Run(context.Background(), command, os.Stderr)
}

// crane serves a registry, or checks that one runs.
func crane(args []string) int {
	address := args[len(args)-1]
	switch {
	case slices.Equal(args, []string{"registry", "serve", "--address", address}):
		server := &http.Server{Addr: address, Handler: registry.New(registry.Logger(log.New(io.Discard, "", 0))), ReadHeaderTimeout: time.Minute}
		return fail("%v", server.ListenAndServe())
	case slices.Equal(args, []string{"catalog", "--insecure", address}):
		connection, err := net.Dial("tcp", address)
		if err != nil {
			return fail("%v", err)
		}
		_ = connection.Close() // the registry runs
		return 0
	}
	return fail("crane %q", args)
}

// openssl creates a key, or extracts its public key.
func openssl(args []string) int {
	file := args[len(args)-1]
	var block pem.Block
	switch {
	case slices.Equal(args, []string{"genpkey", "-algorithm", "ed25519", "-out", file}):
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return fail("%v", err)
		}
		block.Type = "PRIVATE KEY"
		if block.Bytes, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
			return fail("%v", err)
		}
	case len(args) == 6 && slices.Equal(args, []string{"pkey", "-in", args[2], "-pubout", "-out", file}):
		content, err := os.ReadFile(args[2])
		if err != nil {
			return fail("%v", err)
		}
		private, _ := pem.Decode(content)
		key, err := x509.ParsePKCS8PrivateKey(private.Bytes)
		if err != nil {
			return fail("%v", err)
		}
		block.Type = "PUBLIC KEY"
		if block.Bytes, err = x509.MarshalPKIXPublicKey(key.(ed25519.PrivateKey).Public()); err != nil {
			return fail("%v", err)
		}
	default:
		return fail("openssl %q", args)
	}
	if err := os.WriteFile(file, pem.EncodeToMemory(&block), 0o600); err != nil {
		return fail("%v", err)
	}
	return 0
}

// curl downloads a file.
func curl(args []string) int {
	if len(args) != 4 || args[0] != "-fsSL" || args[1] != "-o" {
		return fail("curl %q", args)
	}
	response, err := http.Get(args[3])
	if err != nil {
		return fail("%v", err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return fail("%s: %v", response.Status, err)
	}
	if err := os.WriteFile(args[2], content, 0o600); err != nil {
		return fail("%v", err)
	}
	return 0
}

func fail(format string, args ...any) int {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	return 1
}

// reader is a reader who runs the commands of a page, in a new folder with the docs of the checkout.
type reader struct{ folder, tools string }

func newReader(t *testing.T) reader {
	t.Helper()
	r := reader{t.TempDir(), t.TempDir()}
	if err := os.Symlink(filepath.Join(top(t), "docs"), filepath.Join(r.folder, "docs")); err != nil {
		t.Fatal(err)
	}
	for name := range programs {
		r.write(t, filepath.Join(r.tools, name), program(t, name))
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

// program returns a script that runs this test as this program.
func program(t *testing.T, name string) string {
	t.Helper()
	test, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("#!/bin/sh\n%s=%s exec %q \"$@\"\n", programVariable, name, test)
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
	command.Env = append(os.Environ(), "PATH="+r.tools+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+r.tools)
	command.Env = append(command.Env, environment...)
	output, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %q: %w\n%s", name, args, err, output)
	}
	return nil
}

// runPage runs the commands of a page after replacements: pairs of old and new words.
func (r reader) runPage(t *testing.T, page string, replacements ...string) error {
	t.Helper()
	copied := filepath.Join(r.tools, "page.md")
	r.write(t, copied, strings.NewReplacer(replacements...).Replace(read(t, page)))
	runner := filepath.Join(r.tools, "pagecommands")
	build := exec.Command("go", "build", "-o", runner, "./hack/pagecommands")
	build.Dir = top(t)
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return r.run(t, nil, runner, copied)
}

// freeAddress returns an address on loopback where no process listens.
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
	for _, output := range []string{"layers/01/cluster-gateway.yaml", "inside/addons/cluster-proxy/0.8.0.yaml", "inside/package.yaml"} {
		if matches, err := filepath.Glob(filepath.Join(temporary, "*", output)); err != nil || len(matches) != 1 {
			t.Errorf("%s: %q, %v", output, matches, err)
		}
	}
	files, err := filepath.Glob(filepath.Join(r.folder, "*"))
	if err != nil || len(files) != 2 { // docs and manifests
		t.Errorf("the checkout has %q, %v", files, err)
	}
}
