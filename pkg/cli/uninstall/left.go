package uninstall

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/dependency/steps"
)

// left prints what is left to uninstall, and returns what continues. The same command may not do: the unit of an add-on that is gone
// is not known any more.
func (o *options) left(layers []steps.Layer) string {
	o.printLeft(layers)
	return "what continues is printed under 'Left to uninstall'"
}

// printLeft prints what is left to uninstall, as commands. Each is for the managed clusters with the same add-ons left.
func (o *options) printLeft(layers []steps.Layer) {
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
		named := strings.Join(addOns[cluster], " ")
		clusters[named] = append(clusters[named], cluster)
	}
	fmt.Fprintln(o.ErrOut, "\nLeft to uninstall:")
	for n, named := range slices.Sorted(maps.Keys(clusters)) {
		line := "kubectl addon uninstall " + named + " --cluster " + strings.Join(clusters[named], ",")
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
