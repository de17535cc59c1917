package drawing

import (
	"bytes"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/report"
)

func TestMermaidEscapesText(t *testing.T) {
	graph := &report.Graph{
		Nodes: []report.GraphNode{{Name: `<b>"#1"&`, Kind: report.NodeAPI}},
		Edges: []report.GraphEdge{{Dependent: `<b>"#1"&`, Target: `<b>"#1"&`, Version: ">= 1 <2"}},
	}
	var out bytes.Buffer
	if err := Mermaid(&out, graph); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`n0["#lt;b#gt;#quot;#35;1#quot;#amp;"]`, `|"#gt;= 1 #lt;2"|`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
}
