package layered

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/interlock/test/fixture"
)

// random is a graph of that many nodes, with cycles and edges of a node to itself.
func random(size int) (nodes []Node, edges []Edge) {
	numbers := fixture.Random(1)
	for i := range size {
		nodes = append(nodes, Node{Name: fmt.Sprintf("n%03d", i), Width: 50 + float64(numbers.IntN(100)), Height: 40})
	}
	for range size * 2 {
		edge := Edge{From: nodes[numbers.IntN(size)].Name, To: nodes[numbers.IntN(size)].Name}
		if numbers.IntN(2) == 0 {
			edge.LabelWidth, edge.LabelHeight = 60, 18
		}
		edges = append(edges, edge)
	}
	return nodes, edges
}

func TestBoxesDoNotTouch(t *testing.T) {
	nodes, edges := random(40)
	drawn := Draw(nodes, edges)
	if diff := cmp.Diff(drawn, Draw(nodes, edges)); diff != "" {
		t.Error("two drawings of one graph: " + diff)
	}
	for i, a := range drawn.Boxes {
		if a.X-a.Width/2 < -0.01 || a.Y-a.Height/2 < -0.01 || a.X+a.Width/2 > drawn.Width+0.01 || a.Y+a.Height/2 > drawn.Height+0.01 {
			t.Errorf("%s is outside: %v of %v x %v", nodes[i].Name, a, drawn.Width, drawn.Height)
		}
		for j, b := range drawn.Boxes[:i] {
			if math.Abs(a.X-b.X) < (a.Width+b.Width)/2 && math.Abs(a.Y-b.Y) < (a.Height+b.Height)/2 {
				t.Errorf("%s and %s overlap: %v, %v", nodes[i].Name, nodes[j].Name, a, b)
			}
		}
	}
	for i, edge := range edges {
		if way := drawn.Ways[i]; (edge.From == edge.To) != (len(way.Points) == 0) {
			t.Errorf("%s to %s has the way %v", edge.From, edge.To, way)
		}
	}
}

func TestDependenciesAreOnTheRight(t *testing.T) {
	nodes := []Node{{"a", 10, 10}, {"b", 10, 10}, {"c", 10, 10}}
	drawn := Draw(nodes, []Edge{{From: "a", To: "b"}, {From: "b", To: "c"}, {From: "a", To: "c"}, {From: "c", To: "b"}})
	if !(drawn.Boxes[0].X < drawn.Boxes[1].X && drawn.Boxes[1].X < drawn.Boxes[2].X) {
		t.Errorf("not from left to right: %v", drawn.Boxes)
	}
	for i, back := range []bool{false, false, false, true} {
		if drawn.Ways[i].Back != back {
			t.Errorf("edge %d: back is %t", i, drawn.Ways[i].Back)
		}
	}
}

func TestCrossingsAreAvoided(t *testing.T) {
	var nodes []Node
	var edges []Edge
	for i := range 10 {
		nodes = append(nodes, Node{fmt.Sprintf("a%d", i), 10, 10}, Node{fmt.Sprintf("b%d", i), 10, 10})
		edges = append(edges, Edge{From: fmt.Sprintf("a%d", i), To: fmt.Sprintf("b%d", 9-i)})
	}
	p := newPlan(nodes, edges)
	if before := p.crossings(); before == 0 {
		t.Fatal("nothing to avoid")
	}
	if p.order(); p.crossings() != 0 {
		t.Errorf("%d crossings", p.crossings())
	}
}

func BenchmarkDraw(b *testing.B) {
	nodes, edges := random(300)
	for b.Loop() {
		Draw(nodes, edges)
	}
}
