package layered

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"open-cluster-management.io/interlock/test/fixture"
)

// random returns a graph with cycles, and with edges from a node to itself.
func random(size int) ([]Node, []Edge) {
	var nodes []Node
	var edges []Edge
	numbers := fixture.Random(1)
	for i := range size {
		nodes = append(nodes, Node{Name: fmt.Sprintf("n%03d", i), Width: 50 + float64(numbers.IntN(100)), Height: 40})
	}
	for range size * 2 {
		edge := Edge{Dependent: nodes[numbers.IntN(size)].Name, Dependency: nodes[numbers.IntN(size)].Name}
		if numbers.IntN(2) == 0 {
			edge.LabelWidth, edge.LabelHeight = 60, 18
		}
		edges = append(edges, edge)
	}
	return nodes, edges
}

func TestBoxesDoNotTouch(t *testing.T) {
	nodes, edges := random(40)
	drawing := Draw(nodes, edges)
	if diff := cmp.Diff(drawing, Draw(nodes, edges)); diff != "" {
		t.Error("two drawings of one graph: " + diff)
	}
	for i, a := range drawing.Boxes {
		if a.X-a.Width/2 < -0.01 || a.Y-a.Height/2 < -0.01 || a.X+a.Width/2 > drawing.Width+0.01 || a.Y+a.Height/2 > drawing.Height+0.01 {
			t.Errorf("%s is outside: %v of %v x %v", nodes[i].Name, a, drawing.Width, drawing.Height)
		}
		for j, b := range drawing.Boxes[:i] {
			if math.Abs(a.X-b.X) < (a.Width+b.Width)/2 && math.Abs(a.Y-b.Y) < (a.Height+b.Height)/2 {
				t.Errorf("%s and %s overlap: %v, %v", nodes[i].Name, nodes[j].Name, a, b)
			}
		}
	}
	for i, edge := range edges {
		if route := drawing.Routes[i]; (edge.Dependent == edge.Dependency) != (len(route.Points) == 0) {
			t.Errorf("%s to %s has the way %v", edge.Dependent, edge.Dependency, route)
		}
	}
}

func TestDependenciesAreOnTheRight(t *testing.T) {
	nodes := []Node{{"a", 10, 10}, {"b", 10, 10}, {"c", 10, 10}}
	drawing := Draw(nodes, []Edge{
		{Dependent: "a", Dependency: "b"},
		{Dependent: "b", Dependency: "c"},
		{Dependent: "a", Dependency: "c"},
		{Dependent: "c", Dependency: "b"},
	})
	if !(drawing.Boxes[0].X < drawing.Boxes[1].X && drawing.Boxes[1].X < drawing.Boxes[2].X) {
		t.Errorf("not from left to right: %v", drawing.Boxes)
	}
	for i, back := range []bool{false, false, false, true} {
		if drawing.Routes[i].Back != back {
			t.Errorf("edge %d: back is %t", i, drawing.Routes[i].Back)
		}
	}
}

func TestCrossingsAreAvoided(t *testing.T) {
	var nodes []Node
	var edges []Edge
	for i := range 10 {
		nodes = append(nodes, Node{fmt.Sprintf("a%d", i), 10, 10}, Node{fmt.Sprintf("b%d", i), 10, 10})
		edges = append(edges, Edge{Dependent: fmt.Sprintf("a%d", i), Dependency: fmt.Sprintf("b%d", 9-i)})
	}
	p := newPlan(nodes, edges)
	if p.crossings() == 0 {
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
