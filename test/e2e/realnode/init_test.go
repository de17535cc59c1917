//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// inNamespaces is the argument with which the test runs itself as a node.
const inNamespaces = "realnode-mounts"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == inNamespaces {
		if err := useMounts(spec{Bin: os.Args[2], State: os.Args[3]}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// useMounts uses the mounts like the processes of a node: it reads a binary, writes a file of its state, and has its
// own /tmp.
func useMounts(s spec) error {
	if err := mounts(s); err != nil {
		return err
	}
	_, err := os.ReadFile(s.binary("etcd"))
	if err = errors.Join(err, os.WriteFile(s.file("containerd.toml"), []byte("written"), 0o600)); err != nil {
		return err
	}
	return os.WriteFile("/tmp/of-the-node", nil, 0o600)
}

// A checkout can be in the system's folder for temporary files. Each node has its own such folder.
func TestNodeSeesACheckoutThatItsMountsHide(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounts need root, as realnode does")
	}
	working, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		parent string
		link   bool
	}{
		"InTmp":         {parent: "/tmp"},
		"LinkedIntoTmp": {parent: "/tmp", link: true},
		"Elsewhere":     {parent: working},
	} {
		t.Run(name, func(t *testing.T) {
			checkout := temporary(t, tc.parent)
			if tc.link {
				link := filepath.Join(temporary(t, working), "checkout")
				if err := os.Symlink(checkout, link); err != nil {
					t.Fatal(err)
				}
				checkout = link
			}
			bin := filepath.Join(checkout, "bin")
			state := filepath.Join(bin, "e2e", "hub")
			if err := os.MkdirAll(state, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(bin, "etcd"), nil, 0o700); err != nil {
				t.Fatal(err)
			}
			command := exec.Command("/proc/self/exe", inNamespaces, bin, state)
			command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID}
			if out, err := command.CombinedOutput(); err != nil {
				t.Fatalf("in the node: %v: %s", err, strings.TrimSpace(string(out)))
			}
			if content, err := os.ReadFile(filepath.Join(state, "containerd.toml")); string(content) != "written" {
				t.Errorf("the node's state is not in the checkout: %q, %v", content, err)
			}
			if _, err := os.Stat("/tmp/of-the-node"); err == nil {
				t.Error("the node writes to /tmp of the machine")
			}
		})
	}
}

func temporary(t *testing.T, parent string) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "realnode")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
