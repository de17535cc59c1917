//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// runNode runs a node, as the first process of its namespaces: it sets up mounts and network, and starts all
// processes of the node. It ends on SIGTERM or when one of them ends, and the rest with it.
func runNode(content string) error {
	var s spec
	if err := json.Unmarshal([]byte(content), &s); err != nil {
		return err
	}
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)

	for _, step := range []func(spec) error{mounts, network, writeConfigs} {
		if err := step(s); err != nil {
			return err
		}
	}
	children := map[int]string{}
	for _, p := range processes(s) {
		pid, err := p.start(s)
		if err != nil {
			return err
		}
		children[pid] = p.name
	}
	ended := make(chan error, 1)
	go func() { ended <- reap(children) }()
	select {
	case <-terminate:
		return nil
	case err := <-ended:
		return err
	}
}

// reap waits for all children, and returns when one of the node's own processes ends. Orphans, such as the shims of
// containers, become children of the first process.
func reap(children map[int]string) error {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch name := children[pid]; {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return fmt.Errorf("wait for processes: %w", err)
		case name != "":
			return fmt.Errorf("%s ended with status %d", name, status.ExitStatus())
		}
	}
}

// mounts gives the node its own folders where Kubernetes has fixed ones. They are in memory and end with the mount
// namespace. The folders of the spec stay visible, even if the checkout is in one of these.
func mounts(s spec) error {
	if err := syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	restore, err := keep(s.Bin, s.State)
	if err != nil {
		return err
	}
	for _, dir := range []string{"/run", "/var/lib", "/var/log", "/tmp"} {
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755"); err != nil {
			return fmt.Errorf("mount %s: %w", dir, err)
		}
	}
	if err := restore(); err != nil {
		return err
	}
	// The kubelet needs volumes to appear in running containers.
	if err := syscall.Mount("", "/", "", syscall.MS_SHARED|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("share mounts: %w", err)
	}
	return nil
}

// keep opens folders that a mount may hide. The function that it returns mounts them at their paths again.
func keep(dirs ...string) (func() error, error) {
	opened := make([]*os.File, 0, len(dirs))
	for _, dir := range dirs {
		file, err := os.Open(dir)
		if err != nil {
			return nil, err
		}
		opened = append(opened, file)
	}
	var err error
	resolved := make([]string, len(dirs))
	for i, dir := range dirs {
		if resolved[i], err = filepath.EvalSymlinks(dir); err != nil {
			return nil, err
		}
	}
	return func() error {
		for i, file := range opened {
			if err := mountAgain(file, resolved[i]); err != nil {
				return err
			}
			// The link to the folder may be hidden, too.
			if _, err := os.Stat(dirs[i]); err != nil {
				if err := mountAgain(file, dirs[i]); err != nil {
					return err
				}
			}
			if err := file.Close(); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func mountAgain(folder *os.File, path string) error {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	source := fmt.Sprintf("/proc/self/fd/%d", folder.Fd())
	if err := syscall.Mount(source, path, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return fmt.Errorf("mount %s again: %w", path, err)
	}
	return nil
}

// network gives the node its bridge, whose address is also the node's, and a route to the other node's pods.
func network(s spec) error {
	for _, line := range []string{
		"ip link set lo up",
		"ip link add cni0 type bridge",
		"ip addr add " + s.Address() + "/24 dev cni0",
		"ip link set cni0 up",
		// Without it, a Service has no route before kube-proxy's rules apply.
		"ip route add " + s.Services() + " dev cni0",
		"sysctl -qw net.ipv4.ip_forward=1",
	} {
		if err := command(strings.Fields(line)...); err != nil {
			return err
		}
	}
	if err := awaitUplink(); err != nil {
		return err
	}
	for _, line := range []string{
		"ip addr add " + s.Uplink() + "/24 dev " + uplink,
		"ip link set " + uplink + " up",
		"ip route add " + s.PeerPods() + " via " + s.PeerUplink(),
	} {
		if err := command(strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

func command(line ...string) error {
	if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(line, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
