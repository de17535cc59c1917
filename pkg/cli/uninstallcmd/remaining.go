package uninstallcmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
)

// continueWith prints the remaining uninstallations, and returns a text about how to continue. The same command may not continue them,
// because the unit of a deleted add-on is no longer known.
func (o *options) continueWith(layers []steps.Layer) string {
	o.printRemaining(layers)
	return "what continues is printed under 'Left to uninstall'"
}

// printRemaining prints the remaining uninstallations as commands. Managed clusters with the same remaining add-ons share a command.
func (o *options) printRemaining(layers []steps.Layer) {
	addOns := map[string][]string{}
	for _, step := range slices.Concat(layers...) {
		for _, cluster := range step.Clusters {
			if step.ByPlugin() {
				addOns[cluster] = append(addOns[cluster], step.AddOn)
			}
		}
	}
	clusters := map[string][]string{}
	for _, cluster := range slices.Sorted(maps.Keys(addOns)) {
		names := strings.Join(addOns[cluster], " ")
		clusters[names] = append(clusters[names], cluster)
	}
	fmt.Fprintln(o.ErrOut, "\nLeft to uninstall:")
	for n, names := range slices.Sorted(maps.Keys(clusters)) {
		line := "kubectl addon uninstall " + names + " --cluster " + strings.Join(clusters[names], ",")
		if o.Wait {
			line += " --wait"
		}
		if o.force != "" {
			line += " --force " + source.Quoted(o.force)
		}
		if note := o.Source.Note(line); note != "" && n == 0 {
			fmt.Fprintln(o.ErrOut, "note "+note)
		}
		fmt.Fprintln(o.ErrOut, "run  "+o.Source.Command(line))
	}
}
