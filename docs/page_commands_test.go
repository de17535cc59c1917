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
	"open-cluster-management.io/interlock/pkg/cmdline"
)

// actsAs has the name of the program that this test is for the commands of a page.
const actsAs = "INTERLOCK_TEST_ACTS_AS"

func TestMain(m *testing.M) {
	programs := map[string]func(args []string) int{"kubectl": kubectl, "crane": crane, "openssl": openssl}
	if program, is := programs[os.Getenv(actsAs)]; is {
		os.Exit(program(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// kubectl is the plugin, of this code.
func kubectl(args []string) int {
	if len(args) == 0 || args[0] != "addon" {
		return fail("kubectl %q: only kubectl addon is here", args)
	}
	command := cli.NewCommand(genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr})
	command.SetArgs(args[1:])
	return cmdline.Run(context.Background(), command, os.Stderr)
}

// crane has what pages do with it: it serves a registry, and finds out whether there is one.
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
		_ = connection.Close() // it was there
		return 0
	}
	return fail("crane %q", args)
}

// openssl has what pages do with it: it makes a key. Not every machine has the real one.
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

func fail(format string, args ...any) int {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	return 1
}

// runPage runs the commands of a page in a new folder that has the docs of the checkout, with the words that stand for something
// replaced. It returns the folder.
func runPage(t *testing.T, page string, replaced ...string) string {
	t.Helper()
	folder, tools := t.TempDir(), t.TempDir()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(top, "docs"), filepath.Join(folder, "docs")); err != nil {
		t.Fatal(err)
	}
	test, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kubectl", "crane", "openssl"} {
		script := fmt.Sprintf("#!/bin/sh\n%s=%s exec %q \"$@\"\n", actsAs, name, test)
		if err := os.WriteFile(filepath.Join(tools, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	copied := filepath.Join(tools, "page.md")
	if err := os.WriteFile(copied, []byte(strings.NewReplacer(replaced...).Replace(read(t, page))), 0o600); err != nil {
		t.Fatal(err)
	}
	runner := filepath.Join(tools, "pagecommands")
	build := exec.Command("go", "build", "-o", runner, "./hack/pagecommands")
	build.Dir = top
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	run := exec.CommandContext(t.Context(), runner, copied)
	run.Dir, run.WaitDelay = folder, 10*time.Second
	run.Env = append(os.Environ(), "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+tools)
	if output, err := run.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", page, err, output)
	}
	return folder
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
	folder := runPage(t, "docs/air-gap.md", "localhost:5000", freeAddress(t))
	for _, made := range []string{"manifests/01/cluster-gateway.yaml", "inside/addons/cluster-proxy/0.8.0.yaml", "inside/package.yaml"} {
		if _, err := os.Stat(filepath.Join(folder, made)); err != nil {
			t.Error(err)
		}
	}
}
