package drawing

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
func graphOf(declarations string) *report.Graph {
	graph := &report.Graph{Taken: fixture.Now.Time}
	added := map[string]bool{}
	add := func(name string) {
		if added[name] {
			return
		}
		added[name] = true
		node := report.GraphNode{Name: name, Kind: report.NodeAddOn, Clusters: 5000, Working: 5000}
		if len(graph.Nodes)%3 == 2 {
			node.Working, node.Failing, node.Held = 3210, 1234, 556
		}
		graph.Nodes = append(graph.Nodes, node)
	}
	for _, registration := range fixture.Registrations(declarations) {
		add(registration.Name)
		for _, dependency := range registration.Spec.Dependencies {
			add(dependency.Name)
			edge := report.GraphEdge{Dependent: registration.Name, Target: dependency.Name, Name: dependency.Name, Type: dependency.Type}
			if len(graph.Edges)%4 == 1 {
				edge.Unsatisfied, edge.Version = 1234, ">= 1.2.0 < 2.0.0"
			}
			graph.Edges = append(graph.Edges, edge)
		}
	}
	return graph
}

func twenty() string {
	var declarations []string
	for i := range 20 {
		declaration := fmt.Sprintf("addon-with-a-rather-long-name-for-team-%02d:", i)
		for _, dependency := range []int{i*2 + 1, i*2 + 2, i + 7} {
			if dependency < 20 {
				declaration += fmt.Sprintf(" addon-with-a-rather-long-name-for-team-%02d", dependency)
			}
		}
		declarations = append(declarations, declaration)
	}
	return strings.Join(declarations, ", ")
}

var pictures = map[string]func() *report.Graph{
	"chain":  func() *report.Graph { return graphOf("a-1: b-2, b-2: c-3, c-3: d-4, d-4: e-5, e-5: f-6, f-6:") },
	"twenty": func() *report.Graph { return graphOf(twenty()) },
	"cycle":  func() *report.Graph { return graphOf("a: b, b: c, c: a d, d: d") },
	"none":   func() *report.Graph { return &report.Graph{Taken: fixture.Now.Time} },
	"hostile": func() *report.Graph {
		graph := graphOf("x: y, y:")
		name := "</text><script>alert(1)</script>\x00\x1b\u202e"
		graph.Nodes[1].Name, graph.Edges[0].Target = name, name
		graph.Edges[0].Version, graph.AddOn = `"><image href="http://example.com/x.png"/>`, `<a href="x">`
		return graph
	},
	"long": func() *report.Graph {
		name := strings.Repeat("a-very-long-name.", 14)
		return graphOf("x: " + name + ", " + name + ":")
	},
}

// PICTURES=folder go test ./pkg/report/drawing writes the pictures to look at.
func TestPictures(t *testing.T) {
	for name, newGraph := range pictures {
		t.Run(name, func(t *testing.T) {
			picture := drawn(t, newGraph())
			if drawn(t, newGraph()) != picture {
				t.Error("the same graph has two pictures")
			}
			if folder := os.Getenv("PICTURES"); folder != "" {
				if err := os.WriteFile(filepath.Join(folder, name+".svg"), []byte(picture), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			check(t, picture)
		})
	}
}

func drawn(t *testing.T, graph *report.Graph) string {
	t.Helper()
	var picture strings.Builder
	if err := SVG(&picture, graph); err != nil {
		t.Fatal(err)
	}
	return picture.String()
}

// check reads a picture as XML. It must have drawings and text only, and no reference to another file.
func check(t *testing.T, picture string) {
	t.Helper()
	allowed := map[string]bool{"svg": true, "title": true, "desc": true, "g": true, "rect": true, "path": true, "polygon": true, "text": true}
	decoder := xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
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

func TestPictureHasDescription(t *testing.T) {
	graph := graphOf("gateway: proxy?, proxy:")
	graph.Edges[0].Version = "^1.2"
	want := "gateway: 5000 available.\nproxy: 5000 available.\ngateway depends on proxy (Optional, ^1.2)."
	if got := (&picture{graph: graph}).describe(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if graph.Edges[0].Type != addonv1alpha1.DependencyTypeOptional {
		t.Error("the fixture has no Optional edge")
	}
}
