package deployment

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	yamlnode "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the table of values into the chart's README.md")

// value is a row of the table in the chart's README.
type value struct{ key, kind, fallback, description string }

// valuesOf returns the values of a mapping in values.yaml, with their comments.
func valuesOf(t *testing.T, mapping *yamlnode.Node, prefix string) []value {
	t.Helper()
	var values []value
	for i := 0; i < len(mapping.Content); i += 2 {
		key, content := mapping.Content[i], mapping.Content[i+1]
		name := prefix + key.Value
		description := regexp.MustCompile(`\n?# ?`).ReplaceAllString(key.HeadComment[strings.LastIndex(key.HeadComment, "\n\n")+1:], " ")
		row := value{key: name, kind: kindOf(content), description: strings.TrimSpace(description)}
		if content.Kind == yamlnode.MappingNode && len(content.Content) > 0 {
			if row.description != "" {
				values = append(values, row)
			}
			values = append(values, valuesOf(t, content, name+".")...)
			continue
		}
		var parsed any
		if err := content.Decode(&parsed); err != nil {
			t.Fatal(err)
		}
		fallback, err := json.Marshal(parsed)
		if err != nil {
			t.Fatal(err)
		}
		row.fallback = "`" + string(fallback) + "`"
		values = append(values, row)
	}
	return values
}

func kindOf(node *yamlnode.Node) string {
	return map[string]string{
		"!!str": "string", "!!int": "int", "!!bool": "bool", "!!map": "object", "!!seq": "list", "!!null": "bool",
	}[node.Tag]
}

func readValues(t *testing.T) []value {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(chartFolder, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var document yamlnode.Node
	if err := yamlnode.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	return valuesOf(t, document.Content[0], "")
}

// The table is as helm-docs writes it, with the comments of values.yaml.
func TestTheReadmeOfTheChartHasAllValues(t *testing.T) {
	var table strings.Builder
	table.WriteString("| Key | Type | Default | Description |\n|---|---|---|---|\n")
	documented := map[string]bool{}
	for _, row := range readValues(t) {
		parent := row.key[:max(strings.LastIndex(row.key, "."), 0)]
		for ; parent != "" && row.description == "" && !documented[parent]; parent = parent[:max(strings.LastIndex(parent, "."), 0)] {
		}
		documented[row.key] = row.description != "" || documented[parent]
		if !documented[row.key] {
			t.Errorf("values.yaml has no comment on %s", row.key)
		}
		fmt.Fprintf(&table, "| %s | %s | %s | %s |\n", row.key, row.kind, row.fallback, strings.ReplaceAll(row.description, "|", `\|`))
	}
	path := filepath.Join(chartFolder, "README.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), "| Key | Type |")
	_, after, _ := strings.Cut(rest, "\n\n")
	want := before + table.String() + "\n" + after
	if !ok || want != string(page) {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("the table of values in the chart's README.md is not current: go test -C hack/deployment -update")
	}
}

func TestTheFileWithEverythingHasEverySwitchOn(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(chartFolder, "values-everything.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var everything object
	if err := yaml.UnmarshalStrict(content, &everything); err != nil {
		t.Fatal(err)
	}
	switches := 0
	for _, row := range readValues(t) {
		isSwitch := row.kind == "bool" || slices.Contains([]string{"guard", "protection", "reports"}, row.key)
		if !isSwitch {
			continue
		}
		switches++
		current := any(everything)
		for key := range strings.SplitSeq(row.key, ".") {
			parent, _ := current.(object)
			current = parent[key]
		}
		if current == nil || current == false || current == "off" {
			t.Errorf("%s is %v in values-everything.yaml", row.key, current)
		}
	}
	if switches < 12 {
		t.Errorf("only %d switches", switches)
	}
	release, hooks := chart(t, string(content))
	for _, key := range []string{
		"PrometheusRule/" + namespace + "/interlock", "ServiceMonitor/" + namespace + "/interlock", "ConfigMap/" + namespace + "/interlock-dashboard",
		"NetworkPolicy/" + namespace + "/interlock", "AddOnTemplate//interlock-agent", "ClusterRole//interlock-plugin-reader",
		"Deployment/" + namespace + "/interlock-console",
	} {
		if release[key] == nil {
			t.Errorf("everything on installs no %s", key)
		}
	}
	if hooks["Job/"+namespace+"/interlock-uninstall"] == nil {
		t.Error("everything on has no Job that uninstalls")
	}
}
