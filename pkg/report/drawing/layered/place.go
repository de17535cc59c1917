package layered

import (
	"cmp"
	"slices"
)

// sweeps is the number of times that cells are moved towards their neighbors. A larger number changes nothing visible in graphs of
// some hundred nodes.
const sweeps = 24

// order sorts each layer by the mean position of its neighbors, from left to right and then from right to left. It keeps the order with
// the fewest crossings.
func (p *plan) order() {
	best, fewest := p.positions(), p.crossings()
	for sweep := range sweeps {
		for i := range p.layers {
			layer := p.layers[i]
			if sweep%2 == 1 {
				layer = p.layers[len(p.layers)-1-i]
			}
			sortLayer(layer, func(cell *cell) []*cell {
				if sweep%2 == 1 {
					return cell.right
				}
				return cell.left
			})
		}
		if crossings := p.crossings(); crossings < fewest {
			best, fewest = p.positions(), crossings
		}
	}
	for _, layer := range p.layers {
		for _, cell := range layer {
			cell.position = best[cell]
		}
		slices.SortFunc(layer, func(a, b *cell) int { return cmp.Compare(a.position, b.position) })
	}
}

func (p *plan) positions() map[*cell]int {
	positions := map[*cell]int{}
	for _, layer := range p.layers {
		for _, cell := range layer {
			positions[cell] = cell.position
		}
	}
	return positions
}

func sortLayer(layer []*cell, neighbors func(*cell) []*cell) {
	means := map[*cell]float64{}
	for _, c := range layer {
		means[c] = mean(neighbors(c), float64(c.position), func(neighbor *cell) float64 { return float64(neighbor.position) })
	}
	slices.SortStableFunc(layer, func(a, b *cell) int { return cmp.Compare(means[a], means[b]) })
	for i, cell := range layer {
		cell.position = i
	}
}

// mean returns the mean value of cells, or the default value without cells.
func mean(cells []*cell, defaultValue float64, value func(*cell) float64) float64 {
	if len(cells) == 0 {
		return defaultValue
	}
	sum := 0.0
	for _, cell := range cells {
		sum += value(cell)
	}
	return sum / float64(len(cells))
}

// crossings counts pairs of edges that cross between two layers.
func (p *plan) crossings() int {
	count := 0
	for _, layer := range p.layers {
		var ends []int // of the edges from the cells above
		for _, cell := range layer {
			var cellEnds []int
			for _, right := range cell.right {
				cellEnds = append(cellEnds, right.position)
				for _, end := range ends {
					if end > right.position {
						count++
					}
				}
			}
			ends = append(ends, cellEnds...)
		}
	}
	return count
}

// place moves cells up and down to the mean of their neighbors. It keeps their order and distances.
func (p *plan) place() {
	for _, layer := range p.layers {
		spread(layer, make([]float64, len(layer)))
	}
	for sweep := range sweeps {
		for i := range p.layers {
			layer := p.layers[i]
			if sweep%2 == 1 {
				layer = p.layers[len(p.layers)-1-i]
			}
			desired := make([]float64, len(layer))
			for j, c := range layer {
				neighbors := append(slices.Clone(c.left), c.right...)
				desired[j] = mean(neighbors, c.y, func(neighbor *cell) float64 { return neighbor.y })
			}
			spread(layer, desired)
		}
	}
	top := 0.0
	for _, layer := range p.layers {
		for _, cell := range layer {
			top = min(top, cell.y-cell.height/2)
		}
	}
	for _, layer := range p.layers {
		for _, cell := range layer {
			cell.y -= top
		}
	}
}

// block is a group of neighbors in a layer that touch. They move together.
type block struct {
	sum   float64
	cells int
}

func (b block) mean() float64 { return b.sum / float64(b.cells) }

// spread places the cells of a layer as near to the desired heights as their order and distances allow, by least squares (pool adjacent
// violators).
func spread(layer []*cell, desired []float64) {
	offsets := make([]float64, len(layer))
	var blocks []block
	for i, cell := range layer {
		if i > 0 {
			offsets[i] = offsets[i-1] + distance(layer[i-1], cell)
		}
		blocks = append(blocks, block{desired[i] - offsets[i], 1})
		for n := len(blocks); n > 1 && blocks[n-2].mean() > blocks[n-1].mean(); n = len(blocks) {
			blocks[n-2] = block{blocks[n-2].sum + blocks[n-1].sum, blocks[n-2].cells + blocks[n-1].cells}
			blocks = blocks[:n-1]
		}
	}
	i := 0
	for _, block := range blocks {
		for range block.cells {
			layer[i].y = block.mean() + offsets[i]
			i++
		}
	}
}

// distance returns the smallest distance between the centers of two cells.
func distance(above, below *cell) float64 {
	gap := laneGap
	if above.isNode && below.isNode {
		gap = rowGap
	}
	return above.height/2 + gap + below.height/2
}
