//go:build linux

// Command realnode makes a hub and a managed cluster of one real node each, on one machine and without a container
// engine. Control plane and kubelet run in separate namespaces (network, mounts, processes), joined by a veth pair.
// They reach no other network, and end with the command.
//
//	realnode [flags] [-- command [arguments]]
//
// With a command, realnode runs it in the hub's network namespace, and ends with its exit status. The environment has
// HUB_KUBECONFIG, MANAGED_KUBECONFIG and further variables of test/e2e (see runInside). Without a command, realnode
// prints how to use the clusters and waits for Ctrl-C.
//
// realnode needs root and, from Debian, containerd, runc, containernetworking-plugins, iptables, conntrack and
// iproute2. bin/ must have the programs that `make node` builds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

func main() {
	// A node is killed when the thread that started it ends. The main thread lasts, while others end (see dialIn).
	runtime.LockOSThread()
	if len(os.Args) == 3 && os.Args[1] == nodeCommand {
		if err := runNode(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "node:", err)
			os.Exit(1)
		}
		return
	}
	bin := flag.String("bin", "bin", "folder with the binaries of control plane and node")
	state := flag.String("state", "bin/e2e", "folder for kubeconfigs and logs; emptied first")
	images := flag.String("images", "", "image archives to import on both nodes, separated by commas")
	check := flag.Bool("check", false, "only say what is missing on this machine")
	flag.Parse()
	if *check {
		if err := prerequisites(*bin); err != nil {
			fmt.Fprintln(os.Stderr, "realnode:", err)
			os.Exit(1)
		}
		return
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *bin, *state, archives(*images), flag.Args())
	stop()
	var status *exec.ExitError
	switch {
	case errors.As(err, &status):
		os.Exit(status.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "realnode:", err)
		os.Exit(1)
	}
}

func archives(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func run(ctx context.Context, bin, state string, images, command []string) error {
	if err := prerequisites(bin); err != nil {
		return err
	}
	state, err := filepath.Abs(state)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(state); err != nil {
		return fmt.Errorf("empty the folder for state: %w", err)
	}
	hub, managed, err := startPair(ctx, bin, state, images)
	defer hub.stop()
	defer managed.stop()
	if err != nil {
		return err
	}
	if len(command) == 0 {
		fmt.Printf("hub:     %s kubectl --kubeconfig %s get pods -A\n", hub.enter(), hub.spec.Kubeconfig())
		fmt.Printf("managed: %s kubectl --kubeconfig %s get pods -A\n", hub.enter(), managed.spec.Kubeconfig())
		fmt.Println("Ctrl-C ends both.")
		<-ctx.Done()
		return nil
	}
	return runInside(ctx, hub, managed, command)
}

// runInside runs the command where both clusters can be reached.
func runInside(ctx context.Context, hub, managed *node, command []string) error {
	args := append([]string{fmt.Sprintf("--net=/proc/%d/ns/net", hub.pid()), "--"}, command...)
	cmd := exec.CommandContext(ctx, "nsenter", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(),
		"HUB_KUBECONFIG="+hub.spec.Kubeconfig(),
		"MANAGED_KUBECONFIG="+managed.spec.Kubeconfig(),
		"HUB_PODS_REACHABLE=true",
		// For servers on the loopback interface of both, such as a registry.
		fmt.Sprintf("MANAGED_NETWORK=/proc/%d/ns/net", managed.pid()),
		// The suite cannot cut the cluster's network through an API.
		"MANAGED_CUT_COMMAND="+managed.cutCommand(),
		"MANAGED_RESTORE_COMMAND="+managed.restoreCommand(),
	)
	return cmd.Run()
}

// prerequisites reports everything that is missing, before anything is started.
func prerequisites(bin string) error {
	if os.Geteuid() != 0 {
		return errors.New("namespaces, cgroups and containers need root: run it as root")
	}
	var missing []string
	for _, name := range []string{"containerd", "ctr", "runc", "iptables", "conntrack", "ip", "nsenter"} {
		if _, err := exec.LookPath(name); err != nil {
			missing = append(missing, name)
		}
	}
	if _, err := os.Stat(filepath.Join(pluginsDir, "bridge")); err != nil {
		missing = append(missing, filepath.Join(pluginsDir, "bridge"))
	}
	if len(missing) > 0 {
		return fmt.Errorf("missing: %s; on Debian: apt-get install --no-install-recommends containerd runc containernetworking-plugins iptables conntrack iproute2",
			strings.Join(missing, ", "))
	}
	for _, name := range binaries {
		if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
			return fmt.Errorf("%s has no %s: run `make node`", bin, name)
		}
	}
	return nil
}
