//go:build linux

// Command realnode makes a hub and a managed cluster of one real node each, on
// one machine and without a container engine: control plane and kubelet run in
// namespaces of their own (network, mounts, processes), joined by a veth pair.
// Nothing in them reaches any other network, and nothing outlives the command.
//
//	realnode [flags] [-- command [arguments]]
//
// With a command, it runs that in the hub's network namespace, with
// HUB_KUBECONFIG, MANAGED_KUBECONFIG and whatever else test/e2e is told (see
// runInside) in its environment, and ends with its exit status. Without one it
// prints how to look around and waits for Ctrl-C.
//
// It needs root and, from Debian, containerd, runc, containernetworking-plugins,
// iptables, conntrack and iproute2; bin/ must have what `make node` builds.
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
	// A node is killed when the thread ends that started it. The main thread
	// lasts; others end (see dialIn).
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
		// For what must be on the loopback of both, such as a registry.
		fmt.Sprintf("MANAGED_NETWORK=/proc/%d/ns/net", managed.pid()),
		// What the suite cannot do through an API: take the cluster's network away.
		"MANAGED_CUT_COMMAND="+managed.cutCommand(),
		"MANAGED_RESTORE_COMMAND="+managed.restoreCommand(),
	)
	return cmd.Run()
}

// prerequisites tells what is missing before anything is started.
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
