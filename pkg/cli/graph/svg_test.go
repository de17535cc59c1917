package graph

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/test/fixture"
)

// graphOf reads "a: b c" as fixture.Registrations does. Every third add-on fails.
func graphOf(declared string) *report.Graph {
	graph := &report.Graph{Taken: fixture.Now.Time}
	known := map[string]bool{}
	add := func(name string) {
		if known[name] {
			return
		}
		known[name] = true
		node := report.GraphNode{Name: name, Kind: report.NodeAddOn, Clusters: 5000, Working: 5000}
		if len(graph.Nodes)%3 == 2 {
			node.Working, node.Failing, node.Held = 3210, 1234, 556
		}
		graph.Nodes = append(graph.Nodes, node)
	}
	for _, registered := range fixture.Registrations(declared) {
		add(registered.Name)
		for _, edge := range registered.Spec.Dependencies {
			add(edge.Name)
			made := report.GraphEdge{From: registered.Name, To: edge.Name, Name: edge.Name, Type: edge.Type}
			if len(graph.Edges)%4 == 1 {
				made.Unsatisfied, made.Version = 1234, ">= 1.2.0 < 2.0.0"
			}
			graph.Edges = append(graph.Edges, made)
		}
	}
	return graph
}

func twenty() string {
	var declared []string
	for i := range 20 {
		line := fmt.Sprintf("addon-with-a-rather-long-name-for-team-%02d:", i)
		for _, to := range []int{i*2 + 1, i*2 + 2, i + 7} {
			if to < 20 {
				line += fmt.Sprintf(" addon-with-a-rather-long-name-for-team-%02d", to)
			}
		}
		declared = append(declared, line)
	}
	return strings.Join(declared, ", ")
}

var pictures = map[string]func() *report.Graph{
	"chain":  func() *report.Graph { return graphOf("a-1: b-2, b-2: c-3, c-3: d-4, d-4: e-5, e-5: f-6, f-6:") },
	"twenty": func() *report.Graph { return graphOf(twenty()) },
	"cycle":  func() *report.Graph { return graphOf("a: b, b: c, c: a d, d: d") },
	"none":   func() *report.Graph { return &report.Graph{Taken: fixture.Now.Time} },
	"hostile": func() *report.Graph {
		graph := graphOf("x: y, y:")
		name := "</text><script>alert(1)</script>\x00\x1b\u202e"
		graph.Nodes[1].Name, graph.Edges[0].To = name, name
		graph.Edges[0].Version, graph.AddOn = `"><image href="http://example.com/x.png"/>`, `<a href="x">`
		return graph
	},
	"long": func() *report.Graph {
		name := strings.Repeat("a-very-long-name.", 14)
		return graphOf("x: " + name + ", " + name + ":")
	},
}

// PICTURES=folder go test ./pkg/cli/graph writes the pictures to look at.
func TestPictures(t *testing.T) {
	for name, of := range pictures {
		t.Run(name, func(t *testing.T) {
			drawn := draw(t, of())
			if draw(t, of()) != drawn {
				t.Error("the same graph has two pictures")
			}
			if folder := os.Getenv("PICTURES"); folder != "" {
				if err := os.WriteFile(filepath.Join(folder, name+".svg"), []byte(drawn), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			check(t, drawn)
		})
	}
}

func draw(t *testing.T, graph *report.Graph) string {
	t.Helper()
	var drawn strings.Builder
	if err := svg(&drawn, graph); err != nil {
		t.Fatal(err)
	}
	return drawn.String()
}

// check reads a picture as XML: it has drawings and text only, and nothing that refers to
// another file.
func check(t *testing.T, drawn string) {
	t.Helper()
	allowed := map[string]bool{"svg": true, "title": true, "desc": true, "g": true, "rect": true, "path": true, "polygon": true, "text": true}
	decoder := xml.NewDecoder(strings.NewReader(drawn))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, drawn)
		}
		start, is := token.(xml.StartElement)
		if !is {
			continue
		}
		if !allowed[start.Name.Local] {
			t.Errorf("an element %s", start.Name.Local)
		}
		for _, attribute := range start.Attr {
			if attribute.Name.Local == "href" || strings.HasPrefix(attribute.Name.Local, "on") || strings.Contains(attribute.Value, "url(") {
				t.Errorf("%s has %s=%q", start.Name.Local, attribute.Name.Local, attribute.Value)
			}
		}
	}
}

func TestThePictureInWords(t *testing.T) {
	graph := graphOf("gateway: proxy?, proxy:")
	graph.Edges[0].Version = "^1.2"
	want := "gateway: 5000 available.\nproxy: 5000 available.\ngateway depends on proxy (Optional, ^1.2)."
	if got := describe(graph); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if graph.Edges[0].Type != addonv1alpha1.DependencyTypeOptional {
		t.Error("the fixture has no Optional edge")
	}
}
