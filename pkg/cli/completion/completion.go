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
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// timeout of a completion: a shell waits for it.
const timeout = 2 * time.Second

// Register adds completions to all verbs of a command: to arguments that its usage calls
// ADDON, and to flags by their names.
func Register(root *cobra.Command, from *source.Source) {
	c := &completer{from: from}
	flag(root, "namespace", c.complete(c.clusters, ""))
	for _, verb := range root.Commands() {
		switch {
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
		if own := verb.LocalNonPersistentFlags().Lookup("cluster"); own != nil { // of others, it is the one of a kubeconfig
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

// completer finds names. It has no errors: a shell cannot show them.
type completer struct{ from *source.Source }

// names adds what it finds to the set, until the context ends.
type names func(ctx context.Context, to map[string]bool)

// complete makes a completion of names, with what comes behind each. It leaves out those that
// would control the terminal: a file can have them. Of a list with commas,
// it completes the last element.
func (c *completer) complete(find names, behind string) cobra.CompletionFunc {
	return func(command *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(command.Context(), timeout)
		defer cancel()
		found := map[string]bool{}
		if !c.from.IsStdin() { // standard input belongs to the shell
			find(ctx, found)
		}
		before := typed[:strings.LastIndex(typed, ",")+1]
		var completed []string
		for _, name := range slices.Sorted(maps.Keys(found)) {
			if name != "" && name == text.Name(name) && strings.HasPrefix(before+name, typed) {
				completed = append(completed, before+name+behind)
			}
		}
		directive := cobra.ShellCompDirectiveNoFileComp
		if behind != "" {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return completed, directive
	}
}

// addOns finds all that are registered, and of a file also those that are only installed.
func (c *completer) addOns(ctx context.Context, to map[string]bool) {
	if !c.from.IsFile() {
		c.metadata(ctx, fleet.Registrations, to)
		return
	}
	if registered, err := c.from.Registrations(ctx); err == nil {
		for i := range registered {
			to[registered[i].Name] = true
		}
		c.each(ctx, func(addOn *addonv1alpha1.ManagedClusterAddOn) { to[addOn.Name] = true })
	}
}

// metadata finds the names of all objects of a resource, and reads nothing else of them.
func (c *completer) metadata(ctx context.Context, resource string, to map[string]bool) {
	hub, _, err := c.from.Connect()
	if err != nil {
		return
	}
	// What was found before an error is still right.
	_ = snapshot.Each(ctx, hub, resource, "", func(page *metav1.PartialObjectMetadataList) {
		for i := range page.Items {
			to[page.Items[i].Name] = true
		}
	})
}

// clusters finds the managed clusters.
func (c *completer) clusters(ctx context.Context, to map[string]bool) {
	if c.from.IsFile() {
		if fleet, err := c.from.Snapshot(ctx, ""); err == nil {
			for _, name := range fleet.Names() {
				to[name] = true
			}
		}
		return
	}
	c.metadata(ctx, "managedclusters", to)
}

// reasons finds those of conditions, on the managed cluster of -n if it is given.
func (c *completer) reasons(ctx context.Context, to map[string]bool) {
	c.each(ctx, func(addOn *addonv1alpha1.ManagedClusterAddOn) {
		for _, condition := range []*metav1.Condition{fleet.Available(addOn), fleet.Degraded(addOn)} {
			if condition != nil {
				to[condition.Reason] = true
			}
		}
	})
}

// each calls a function with the add-ons on managed clusters.
func (c *completer) each(ctx context.Context, of func(*addonv1alpha1.ManagedClusterAddOn)) {
	if c.from.IsFile() {
		if fleet, err := c.from.Snapshot(ctx, ""); err == nil {
			for i := range fleet.AddOns {
				of(&fleet.AddOns[i])
			}
		}
		return
	}
	hub, _, err := c.from.Connect()
	if err != nil {
		return
	}
	// What was found before an error is still right.
	_ = snapshot.Each(ctx, hub, "managedclusteraddons", *c.from.Config.Namespace, func(page *addonv1alpha1.ManagedClusterAddOnList) {
		for i := range page.Items {
			of(&page.Items[i])
		}
	})
}
