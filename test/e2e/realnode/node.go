//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// patience is how long a node may take to become Ready on a busy machine.
	patience = 5 * time.Minute
	interval = 500 * time.Millisecond
)

// node is a running node, seen from outside its namespaces.
type node struct {
	spec    spec
	command *exec.Cmd
	exited  chan struct{}
}

// startPair starts hub and managed cluster and waits until both are Ready, with the images imported. The caller must
// stop both, also after an error.
func startPair(ctx context.Context, bin, state string, images []string) (hub, managed *node, err error) {
	bin, err = filepath.Abs(bin)
	hub = &node{spec: spec{Name: "hub", Bin: bin, State: filepath.Join(state, "hub"), Number: 1, Peer: 2}}
	managed = &node{spec: spec{Name: "managed", Bin: bin, State: filepath.Join(state, "managed"), Number: 2, Peer: 1}}
	if err != nil {
		return hub, managed, err
	}
	begin := time.Now()
	for _, n := range []*node{hub, managed} {
		if err := n.start(); err != nil {
			return hub, managed, err
		}
	}
	if err := join(hub, managed); err != nil {
		return hub, managed, err
	}
	for _, n := range []*node{hub, managed} {
		if err := n.ready(ctx, hub); err != nil {
			return hub, managed, err
		}
		fmt.Printf("realnode: %s is Ready at %s (%s)\n", n.spec.Name, n.spec.Server(), time.Since(begin).Round(time.Second))
		for _, archive := range images {
			if err := n.importImages(ctx, archive); err != nil {
				return hub, managed, err
			}
		}
	}
	return hub, managed, nil
}

// start runs this program again, as the first process of new namespaces.
func (n *node) start() error {
	if err := os.MkdirAll(n.spec.State, 0o700); err != nil {
		return err
	}
	if err := writePKI(n.spec); err != nil {
		return err
	}
	content, err := json.Marshal(n.spec)
	if err != nil {
		return err
	}
	log, err := os.Create(n.spec.file("node.log"))
	if err != nil {
		return err
	}
	defer log.Close() // the child has it open
	n.command = exec.Command("/proc/self/exe", nodeCommand, string(content))
	n.command.Stdout, n.command.Stderr = log, log
	n.command.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		Pdeathsig:  syscall.SIGKILL,
		Setpgid:    true,
	}
	if err := n.command.Start(); err != nil {
		return fmt.Errorf("start %s in namespaces of its own: %w", n.spec.Name, err)
	}
	n.exited = make(chan struct{})
	go func() {
		_ = n.command.Wait() // every caller that waits for the node notices its end
		close(n.exited)
	}()
	return nil
}

// join connects the two network namespaces by the veth pair.
func join(hub, managed *node) error {
	return errors.Join(
		command("ip", "link", "add", "name", uplink, "netns", fmt.Sprint(hub.pid()), "type", "veth",
			"peer", "name", uplink, "netns", fmt.Sprint(managed.pid())))
}

func (n *node) pid() int { return n.command.Process.Pid }

// enter returns the beginning of a command line that runs in the node's network.
func (n *node) enter() string {
	return fmt.Sprintf("nsenter --net=/proc/%d/ns/net --", n.pid())
}

// ready waits for the node, and publishes its address. The API server is in another network namespace, so its clients
// dial from a thread inside it.
func (n *node) ready(ctx context.Context, _ *node) error {
	config, err := clientcmd.BuildConfigFromFlags("", n.spec.Kubeconfig())
	if err != nil {
		return err
	}
	config.Dial = dialIn(n.pid())
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, interval, patience, true, func(ctx context.Context) (bool, error) {
		select {
		case <-n.exited:
			return false, errors.New("it ended by itself")
		default:
		}
		var object *corev1.Node
		if object, last = client.CoreV1().Nodes().Get(ctx, n.spec.Name, metav1.GetOptions{}); last != nil {
			return false, nil //nolint:nilerr // the next poll tries again; last keeps the error
		}
		for _, condition := range object.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				return true, nil
			}
		}
		last = errors.New("the node is not Ready")
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w (%w); its logs are in %s", n.spec.Name, err, last, n.spec.State)
	}
	return publishAddress(ctx, client, config)
}

// importImages gives the node's containerd the images of an archive. The node may not see the archive's folder.
func (n *node) importImages(ctx context.Context, archive string) error {
	content, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer content.Close()
	cmd := exec.CommandContext(ctx, "nsenter", "--target", fmt.Sprint(n.pid()), "--mount", "--net", "--pid", "--",
		"ctr", "--namespace", "k8s.io", "images", "import", "--all-platforms", "-")
	cmd.Stdin = content
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("import %s on %s: %w\n%s", archive, n.spec.Name, err, bytes.TrimSpace(out))
	}
	fmt.Printf("realnode: %s has the images of %s\n", n.spec.Name, archive)
	return nil
}

// stop ends the node and with it everything in its namespaces.
func (n *node) stop() {
	if n == nil || n.exited == nil {
		return
	}
	_ = n.command.Process.Signal(syscall.SIGTERM) // SIGKILL follows in any case
	select {
	case <-n.exited:
	case <-time.After(20 * time.Second):
		_ = n.command.Process.Kill()
		<-n.exited
	}
}
