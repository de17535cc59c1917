// Package completion completes the names of add-ons, managed clusters and reasons in a
// shell, from the hub or the file that the command line names.
package completion

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/cli/terminal"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// timeout is short, because the shell waits for a completion.
const timeout = 2 * time.Second

// Register adds completions to all verbs of a command, for arguments that the usage calls
// ADDON, and for flags by their names.
func Register(root *cobra.Command, src *source.Source) {
	c := &completer{source: src}
	flag(root, "namespace", c.complete(c.clusters, ""))
	flag(root, "color", cobra.FixedCompletions(terminal.ColorModes, cobra.ShellCompDirectiveNoFileComp))
	for _, verb := range root.Commands() {
		switch {
		case verb.ValidArgsFunction != nil: // its own
		case strings.Contains(verb.Use, "ADDON"):
			names := c.complete(c.addOns, "")
			verb.ValidArgsFunction = func(command *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
				if len(args) > 0 && !strings.Contains(verb.Use, "ADDON...") {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
				return names(command, args, typed)
			}
		case !strings.Contains(verb.Use, "FILE"):
			verb.ValidArgsFunction = cobra.NoFileCompletions
		}
		if own := verb.LocalNonPersistentFlags().Lookup("cluster"); own != nil { // the other verbs have the flag for a cluster of the kubeconfig
			flag(verb, "cluster", c.complete(c.clusters, ""))
		}
		flag(verb, "install", c.complete(c.addOns, ""))
		flag(verb, "remove", c.complete(c.addOns, ""))
		flag(verb, "version", c.complete(c.addOns, "="))
		flag(verb, "reason", c.complete(c.reasons, ""))
		flag(verb, "format", cobra.FixedCompletions([]string{"dot", "mermaid", "svg"}, cobra.ShellCompDirectiveNoFileComp))
	}
}

func flag(command *cobra.Command, name string, complete cobra.CompletionFunc) {
	if command.Flag(name) != nil && command.Flag(name).Value.Type() != "bool" {
		_ = command.RegisterFlagCompletionFunc(name, complete) // the flag exists
	}
}

// completer finds names. It ignores errors, because a shell cannot show them.
type completer struct{ source *source.Source }

// finder adds names to a set, until the context ends.
type finder func(ctx context.Context, names map[string]bool)

// complete returns a completion that adds a suffix to each name. It leaves out names that
// would control the terminal, because a file can have them. In a list with commas, it
// completes the last element.
func (c *completer) complete(find finder, suffix string) cobra.CompletionFunc {
	return func(command *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(command.Context(), timeout)
		defer cancel()
		names := map[string]bool{}
		if !c.source.IsStdin() { // standard input belongs to the shell
			find(ctx, names)
		}
		prefix := typed[:strings.LastIndex(typed, ",")+1]
		var completed []string
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if name != "" && name == text.Name(name) && strings.HasPrefix(prefix+name, typed) {
				completed = append(completed, prefix+name+suffix)
			}
		}
		directive := cobra.ShellCompDirectiveNoFileComp
		if suffix != "" {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return completed, directive
	}
}

// addOns finds all registered add-ons. In a file, it also finds add-ons that are only installed.
func (c *completer) addOns(ctx context.Context, names map[string]bool) {
	if !c.source.IsFile() {
		c.metadata(ctx, fleet.Registrations, names)
		return
	}
	if registered, err := c.source.Registrations(ctx); err == nil {
		for i := range registered {
			names[registered[i].Name] = true
		}
		c.each(ctx, func(addOn *addonv1alpha1.ManagedClusterAddOn) { names[addOn.Name] = true })
	}
}

// metadata finds the names of all objects of a resource. It reads only their metadata.
func (c *completer) metadata(ctx context.Context, resource string, names map[string]bool) {
	hub, _, err := c.source.Connect()
	if err != nil {
		return
	}
	// Names that were found before an error are still right.
	_ = snapshot.Each(ctx, hub, resource, "", func(page *metav1.PartialObjectMetadataList) {
		for i := range page.Items {
			names[page.Items[i].Name] = true
		}
	})
}

// clusters finds the managed clusters.
func (c *completer) clusters(ctx context.Context, names map[string]bool) {
	if c.source.IsFile() {
		if fleet, err := c.source.Snapshot(ctx, ""); err == nil {
			for _, name := range fleet.Names() {
				names[name] = true
			}
		}
		return
	}
	c.metadata(ctx, "managedclusters", names)
}

// reasons finds reasons of conditions, on the managed cluster of -n if it is set.
func (c *completer) reasons(ctx context.Context, names map[string]bool) {
	c.each(ctx, func(addOn *addonv1alpha1.ManagedClusterAddOn) {
		for _, condition := range []*metav1.Condition{fleet.Available(addOn), fleet.Degraded(addOn)} {
			if condition != nil {
				names[condition.Reason] = true
			}
		}
	})
}

// each calls a function with the add-ons on managed clusters.
func (c *completer) each(ctx context.Context, visit func(*addonv1alpha1.ManagedClusterAddOn)) {
	if c.source.IsFile() {
		if fleet, err := c.source.Snapshot(ctx, ""); err == nil {
			for _, addOn := range fleet.AddOns {
				visit(addOn)
			}
		}
		return
	}
	hub, _, err := c.source.Connect()
	if err != nil {
		return
	}
	// Names that were found before an error are still right.
	_ = snapshot.Each(ctx, hub, "managedclusteraddons", *c.source.Config.Namespace, func(page *addonv1alpha1.ManagedClusterAddOnList) {
		for i := range page.Items {
			visit(&page.Items[i])
		}
	})
}
