package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/test/benchmark/simulator"
)

// The commands below are processes that addon-manager is compared with. They run this program again, with a
// kubeconfig.

const (
	cacheCommand = "hold-in-plain-cache"
	listCommand  = "list-once"
	pagesCommand = "list-pages"
)

func newCacheCommand() *cobra.Command {
	return newChildCommand(cacheCommand, "Hold what addon-manager reads in a plain cache, until the input ends", holdInPlainCache)
}

func newListCommand() *cobra.Command {
	return newChildCommand(listCommand, "Read what addon-manager reads once, by streaming lists", listOnce)
}

func newPagesCommand() *cobra.Command {
	return newChildCommand(pagesCommand, "Read what kubectl addon reads once, in pages", listPages)
}

func newChildCommand(name, short string, run func(context.Context, *rest.Config) error) *cobra.Command {
	return &cobra.Command{
		Use: name + " KUBECONFIG", Short: short, Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			config, err := cmdline.RestConfig(args[0])
			if err != nil {
				return err
			}
			config.QPS = -1
			return run(command.Context(), config)
		},
	}
}

// holdInPlainCache prints a line when everything is cached, and then waits.
func holdInPlainCache(ctx context.Context, config *rest.Config) error {
	scheme, err := simulator.NewScheme()
	if err != nil {
		return err
	}
	objects, err := cache.New(config, cache.Options{Scheme: scheme, Mapper: nil})
	if err != nil {
		return err
	}
	for _, object := range []client.Object{
		&addonv1alpha1.ClusterManagementAddOn{}, &addonv1alpha1.ManagedClusterAddOn{}, &clusterv1.ManagedCluster{},
	} {
		if _, err := objects.GetInformer(ctx, object, cache.BlockUntilSynced(false)); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	var group errgroup.Group
	group.Go(func() error { return objects.Start(ctx) })
	if objects.WaitForCacheSync(ctx) {
		fmt.Println("cached")
		_, err = io.Copy(io.Discard, os.Stdin)
	}
	cancel()
	return errors.Join(err, group.Wait())
}

// listOnce reads all lists at the same time, like addon-manager.
func listOnce(ctx context.Context, config *rest.Config) error {
	scheme, err := simulator.NewScheme()
	if err != nil {
		return err
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	mapper, err := hubcache.Mapper(config, httpClient)
	if err != nil {
		return err
	}
	reader, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper, HTTPClient: httpClient})
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, list := range []client.ObjectList{
		&addonv1alpha1.ClusterManagementAddOnList{}, &addonv1alpha1.ManagedClusterAddOnList{}, &clusterv1.ManagedClusterList{},
	} {
		group.Go(func() error { return stream(ctx, reader, list) })
	}
	return group.Wait()
}

// stream reads a list as a watch. The watch begins with the stored objects, up to the bookmark that marks their end.
func stream(ctx context.Context, reader client.WithWatch, list client.ObjectList) error {
	initial := true
	events, err := reader.Watch(ctx, list, &client.ListOptions{Raw: &metav1.ListOptions{
		SendInitialEvents: &initial, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
	}})
	if err != nil {
		return fmt.Errorf("read %T: %w", list, err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if event.Type != watch.Bookmark {
			continue
		}
		if object, ok := event.Object.(client.Object); ok && object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
			return nil
		}
	}
	return fmt.Errorf("read %T: the list ended early", list)
}

// child returns a command that calls this program with a kubeconfig of the hub.
func (s *session) child(ctx context.Context, command string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	user, err := s.fleet.Hub.User("compared-with")
	if err != nil {
		return nil, err
	}
	process := exec.CommandContext(ctx, self, command, user.Kubeconfig)
	process.Stderr = os.Stderr
	return process, nil
}

// streamingList returns the running time of a process that only lists.
func (s *session) streamingList(ctx context.Context) (time.Duration, error) {
	command, err := s.child(ctx, listCommand)
	if err != nil {
		return 0, err
	}
	started := time.Now()
	err = command.Run()
	return time.Since(started), err
}

// plainCache returns the resident memory, in MiB, of a process that holds all objects in a plain cache.
func (s *session) plainCache(ctx context.Context) (resident float64, err error) {
	defer s.progress.step("plain cache")()
	command, err := s.child(ctx, cacheCommand)
	if err != nil {
		return 0, err
	}
	input, err := command.StdinPipe()
	if err != nil {
		return 0, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := command.Start(); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, input.Close(), command.Wait()) }()
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		return 0, fmt.Errorf("wait for the plain cache: %w", err)
	}
	if err := pause(ctx, memoryLull); err != nil {
		return 0, err
	}
	usage, err := simulator.UsageOf(command.Process.Pid)
	return usage.RSS, err
}
