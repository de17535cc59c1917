package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const (
	zookeeper   = "zookeeper"
	kafka       = "kafka"
	registry    = "schema-registry"
	connect     = "kafka-connect"
	clickstream = "clickstream"
)

// stack is an invented stack, unlike the other add-ons: five add-ons in four layers. None of them is installed at
// first.
var stack = []addOn{
	{zookeeper, nil},
	{kafka, []addonv1alpha1.AddonDependency{required(zookeeper, "Brokers do not find each other.")}},
	{registry, []addonv1alpha1.AddonDependency{required(kafka, "Schemas cannot be kept.")}},
	{connect, []addonv1alpha1.AddonDependency{required(kafka, "Connectors have no topics.")}},
	{clickstream, []addonv1alpha1.AddonDependency{
		required(connect, "Clicks are not read."),
		required(registry, "Clicks are not understood."),
	}},
}

func stacked(string) []string {
	var names []string
	for _, a := range stack {
		names = append(names, a.name)
	}
	return names
}

// installStack installs the whole stack with the plugin. A stand-in starts where OCM would start an add-on's agent.
func installStack(ctx context.Context, w *world) error {
	return w.plugin(ctx, w.startStandIns, "install", clickstream, "--cluster", strings.Join(clusters, ","), "--wait", "--yes")
}

// removeStack uninstalls the stack as a unit with the plugin, and ends the stand-ins.
func removeStack(ctx context.Context, w *world) error {
	noAction := func(context.Context) error { return nil }
	if err := w.plugin(ctx, noAction,
		"uninstall", clickstream, "--cascade=unit", "--cluster", strings.Join(clusters, ","), "--wait", "--yes"); err != nil {
		return err
	}
	for name := range w.standIns {
		if slices.Contains(stacked(""), name.Name) {
			if err := w.stopStandIn(name.Namespace, name.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

// startStandIns starts the stand-ins of the stack's add-ons that have been installed since the last call.
func (w *world) startStandIns(ctx context.Context) error {
	var missing []types.NamespacedName
	w.observer.look(func(addOns map[types.NamespacedName]*installed, _ []change) bool {
		for name := range addOns {
			if w.standIns[name] == nil {
				missing = append(missing, name)
			}
		}
		return true
	})
	for _, name := range missing {
		if err := w.reportByLease(ctx, name.Namespace, name.Name); err != nil {
			return err
		}
		if err := w.startStandIn(name.Namespace, name.Name); err != nil {
			return err
		}
	}
	return nil
}

// plugin runs kubectl addon and shows its output. It calls onChange at every change of an add-on.
func (w *world) plugin(ctx context.Context, onChange func(context.Context) error, args ...string) error {
	w.printer.line("%s$ kubectl addon %s", indent, strings.Join(args, " "))
	command := exec.CommandContext(ctx, filepath.Join(w.bin, "kubectl-addon"), append(args, "--kubeconfig", w.ocm.Kubeconfig())...)
	output, written := io.Pipe()
	command.Stdout, command.Stderr = written, written
	if err := command.Start(); err != nil {
		return err
	}
	ended, printed := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(printed)
		for text := bufio.NewScanner(output); text.Scan(); {
			w.printer.line("%s%s", indent, text.Text())
		}
	}()
	go func() {
		err := command.Wait()
		_ = written.Close() // cannot fail
		<-printed
		ended <- err
	}()
	for {
		_, news := w.observer.look(func(map[types.NamespacedName]*installed, []change) bool { return true })
		if err := onChange(ctx); err != nil {
			return err
		}
		select {
		case <-news:
		case err := <-ended:
			w.printer.line("")
			if err != nil {
				return fmt.Errorf("kubectl addon %s: %w", args[0], err)
			}
			return nil
		}
	}
}
