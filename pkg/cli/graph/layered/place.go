package layered

import (
	"cmp"
	"slices"
)

// sweeps are how often cells are moved towards their neighbors. More change nothing that
// one could see in graphs of some hundred nodes.
const sweeps = 24

// order sorts each layer by the mean position of its neighbors, from left to right and
// back, and keeps the order with the fewest crossings.
func (p *plan) order() {
	best, fewest := p.positions(), p.crossings()
	for sweep := range sweeps {
		for i := range p.layers {
			layer := p.layers[i]
			if sweep%2 == 1 {
				layer = p.layers[len(p.layers)-1-i]
			}
			sortLayer(layer, func(one *cell) []*cell {
				if sweep%2 == 1 {
					return one.right
				}
				return one.left
			})
		}
		if crossings := p.crossings(); crossings < fewest {
			best, fewest = p.positions(), crossings
		}
	}
	for _, layer := range p.layers {
		for _, one := range layer {
			one.position = best[one]
		}
		slices.SortFunc(layer, func(a, b *cell) int { return cmp.Compare(a.position, b.position) })
	}
}

func (p *plan) positions() map[*cell]int {
	positions := map[*cell]int{}
	for _, layer := range p.layers {
		for _, one := range layer {
			positions[one] = one.position
		}
	}
	return positions
}

func sortLayer(layer []*cell, neighbors func(*cell) []*cell) {
	means := map[*cell]float64{}
	for _, one := range layer {
		means[one] = mean(neighbors(one), float64(one.position), func(n *cell) float64 { return float64(n.position) })
	}
	slices.SortStableFunc(layer, func(a, b *cell) int { return cmp.Compare(means[a], means[b]) })
	for i, one := range layer {
		one.position = i
	}
}

func mean(cells []*cell, otherwise float64, of func(*cell) float64) float64 {
	if len(cells) == 0 {
		return otherwise
	}
	sum := 0.0
	for _, one := range cells {
		sum += of(one)
	}
	return sum / float64(len(cells))
}

// crossings counts pairs of edges that cross between two layers.
func (p *plan) crossings() int {
	count := 0
	for _, layer := range p.layers {
		var ends []int // of the edges so far, in the order of where they begin
		for _, one := range layer {
			var here []int
			for _, right := range one.right {
				here = append(here, right.position)
				for _, end := range ends {
					if end > right.position {
						count++
					}
				}
			}
			ends = append(ends, here...)
		}
	}
	return count
}

// place moves cells up and down to the mean of their neighbors, and keeps their order
// and distances.
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
			for j, one := range layer {
				desired[j] = mean(append(slices.Clone(one.left), one.right...), one.y, func(n *cell) float64 { return n.y })
			}
			spread(layer, desired)
		}
	}
	top := 0.0
	for _, layer := range p.layers {
		for _, one := range layer {
			top = min(top, one.y-one.height/2)
		}
	}
	for _, layer := range p.layers {
		for _, one := range layer {
			one.y -= top
		}
	}
}

// block are neighbors in a layer that touch. They move together.
type block struct {
	sum   float64
	cells int
}

func (b block) at() float64 { return b.sum / float64(b.cells) }

// spread places the cells of a layer as near to the desired heights as their order and
// distances allow, by least squares (pool adjacent violators).
func spread(layer []*cell, desired []float64) {
	offsets := make([]float64, len(layer))
	var blocks []block
	for i, one := range layer {
		if i > 0 {
			offsets[i] = offsets[i-1] + distance(layer[i-1], one)
		}
		blocks = append(blocks, block{desired[i] - offsets[i], 1})
		for n := len(blocks); n > 1 && blocks[n-2].at() > blocks[n-1].at(); n = len(blocks) {
			blocks[n-2] = block{blocks[n-2].sum + blocks[n-1].sum, blocks[n-2].cells + blocks[n-1].cells}
			blocks = blocks[:n-1]
		}
	}
	i := 0
	for _, touching := range blocks {
		for range touching.cells {
			layer[i].y = touching.at() + offsets[i]
			i++
		}
	}
}

// distance is the least one between the centers of two cells.
func distance(above, below *cell) float64 {
	gap := laneGap
	if above.isNode && below.isNode {
		gap = rowGap
	}
	return above.height/2 + gap + below.height/2
}
