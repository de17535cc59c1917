package overview

import (
	"bytes"
	"maps"
	"slices"

	"open-cluster-management.io/interlock/pkg/text"
)

// Grid has the state of each add-on on each managed cluster. It is small, because it has a letter for each state.
type Grid struct {
	AddOns   []string  `json:"addOns"`
	Clusters []GridRow `json:"clusters"`
}

// GridRow is a managed cluster of a grid.
type GridRow struct {
	Name  string `json:"name"`
	Group string `json:"group,omitempty"`
	// States has the place of each add-on's state in States as a digit, or a space for an add-on that is not installed.
	States string `json:"states"`
}

// newGrid returns the grid of managed clusters, in their order.
func newGrid(clusters []located) *Grid {
	names := map[string]bool{}
	for i := range clusters {
		for _, each := range clusters[i].states {
			names[each.addOn] = true
		}
	}
	addOns := slices.Sorted(maps.Keys(names))
	grid := &Grid{AddOns: []string{}, Clusters: make([]GridRow, 0, len(clusters))}
	columns := make(map[string]int, len(addOns))
	for column, addOn := range addOns {
		grid.AddOns, columns[addOn] = append(grid.AddOns, text.Name(addOn)), column
	}
	for i := range clusters {
		states := bytes.Repeat([]byte{' '}, len(addOns))
		for _, each := range clusters[i].states {
			states[columns[each.addOn]] = "0123456789"[each.state.rank()]
		}
		grid.Clusters = append(grid.Clusters, GridRow{Name: clusters[i].Name, Group: clusters[i].Group, States: string(states)})
	}
	return grid
}
