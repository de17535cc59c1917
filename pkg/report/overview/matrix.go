package overview

import (
	"cmp"
	"maps"
	"slices"

	"open-cluster-management.io/interlock/pkg/text"
)

// Limits of the matrix.
const (
	maxGroups  = 16
	maxRows    = 200
	maxInCell  = 50       // names of managed clusters for each state
	namesBytes = 96 << 10 // of all names in the matrix
)

// matrixBuilder counts the states of add-ons by groups of managed clusters.
type matrixBuilder struct {
	groupBy string
	groups  map[string]*Group
	// cells has the names of managed clusters by add-on, group and state.
	cells map[string]map[string]map[State][]string
	// capacity is the size of names that still fits, in bytes.
	capacity int
}

func newMatrix(groupBy string) *matrixBuilder {
	return &matrixBuilder{
		groupBy: groupBy, groups: map[string]*Group{}, cells: map[string]map[string]map[State][]string{}, capacity: namesBytes,
	}
}

// add adds a managed cluster.
func (m *matrixBuilder) add(cluster located) {
	group := m.groups[cluster.group]
	if group == nil {
		group = &Group{Name: cluster.Group}
		m.groups[cluster.group] = group
	}
	group.Clusters++
	if cluster.Lost {
		group.Lost++
	}
	for _, each := range cluster.states {
		groups := m.cells[each.addOn]
		if groups == nil {
			groups = map[string]map[State][]string{}
			m.cells[each.addOn] = groups
		}
		states := groups[cluster.group]
		if states == nil {
			states = map[State][]string{}
			groups[cluster.group] = states
		}
		states[each.state] = append(states[each.state], cluster.name)
	}
}

// result returns the matrix, and the number of add-ons that have no row.
func (m *matrixBuilder) result() (Matrix, int32) {
	matrix := Matrix{GroupBy: text.Name(m.groupBy), Groups: []Group{}, Rows: []Row{}}
	columns := m.columns()
	for _, column := range columns {
		matrix.Groups = append(matrix.Groups, m.merged(column))
	}
	names := m.addOns()
	shown := names[:min(len(names), maxRows)]
	for _, addOn := range shown {
		row := Row{AddOn: text.Name(addOn), Fleet: m.cell(addOn, slices.Collect(maps.Keys(m.groups)), false)}
		for _, column := range columns {
			row.Cells = append(row.Cells, m.cell(addOn, column, true))
		}
		matrix.Rows = append(matrix.Rows, row)
	}
	return matrix, int32(len(names) - len(shown)) //nolint:gosec // bounded by memory
}

// addOns returns the names of all add-ons. Those that are broken on most managed clusters come first.
func (m *matrixBuilder) addOns() []string {
	counts := map[string]map[State]int{}
	for addOn, groups := range m.cells {
		counts[addOn] = map[State]int{}
		for _, states := range groups {
			for state, clusters := range states {
				counts[addOn][state] += len(clusters)
			}
		}
	}
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		order := cmp.Compare(counts[b][Failing]+counts[b][Down], counts[a][Failing]+counts[a][Down])
		for _, state := range States[:len(States)-1] {
			order = cmp.Or(order, cmp.Compare(counts[b][state], counts[a][state]))
		}
		return cmp.Or(order, cmp.Compare(a, b))
	})
}

// columns returns the groups of each column. The largest groups have their own column, and the others share the last one.
func (m *matrixBuilder) columns() [][]string {
	names := slices.SortedFunc(maps.Keys(m.groups), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.groups[b].Clusters, m.groups[a].Clusters), cmp.Compare(a, b))
	})
	own := slices.Clone(names[:min(len(names), maxGroups)])
	others := names[len(own):]
	slices.Sort(own)
	if len(own) > 1 && own[0] == "" { // clusters without the label come last
		own = append(own[1:], "")
	}
	var columns [][]string
	for _, name := range own {
		columns = append(columns, []string{name})
	}
	if len(others) > 0 {
		columns = append(columns, others)
	}
	return columns
}

// merged returns the heading of a column.
func (m *matrixBuilder) merged(column []string) Group {
	if len(column) == 1 {
		return *m.groups[column[0]]
	}
	group := Group{Merged: len(column)}
	for _, name := range column {
		group.Clusters += m.groups[name].Clusters
		group.Lost += m.groups[name].Lost
	}
	return group
}

// cell returns the state of an add-on on groups of managed clusters, with names while they fit.
func (m *matrixBuilder) cell(addOn string, groups []string, withNames bool) Cell {
	var cell Cell
	for _, state := range States {
		var clusters []string
		for _, group := range groups {
			clusters = append(clusters, m.cells[addOn][group][state]...)
		}
		if len(clusters) == 0 {
			continue
		}
		cell.Installed += len(clusters)
		shown := CellState{State: state, Count: len(clusters)}
		if withNames && state != Working {
			slices.Sort(clusters)
			shown.ClusterNames = m.fit(clusters)
		}
		cell.States = append(cell.States, shown)
	}
	return cell
}

// fit returns the first names that fit.
func (m *matrixBuilder) fit(clusters []string) Names {
	limit := 0
	for limit < min(len(clusters), maxInCell) && m.capacity >= len(clusters[limit]) {
		m.capacity -= len(clusters[limit])
		limit++
	}
	return named(clusters, limit)
}
