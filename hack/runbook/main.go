// Command runbook writes the entries of docs/runbook.md to a ConfigMap, one key for each alert, verdict and reason. A
// hub has them in this object, and the plugin inside itself, for readers without the repository. `make generate` runs it.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

const comment = `# Generated from docs/runbook.md by make generate: what to do, for each alert, verdict and reason.
`

func main() {
	page := flag.String("page", "docs/runbook.md", "the page to read")
	out := flag.String("out", "deploy/alerts/runbook.yaml", "the ConfigMap to write")
	flag.Parse()
	if err := generate(*page, *out); err != nil {
		fmt.Fprintln(os.Stderr, "runbook:", err)
		os.Exit(1)
	}
}

func generate(page, out string) error {
	content, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	entries, err := parse(string(content))
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(out, []byte(configMap(entries)), 0o644)
}

// configMap returns the object as YAML. A library would write texts with long lines as quoted strings, which nobody can
// compare.
func configMap(entries map[string]string) string {
	var object strings.Builder
	object.WriteString(comment)
	object.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: interlock-runbook\ndata:\n")
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		fmt.Fprintf(&object, "  %s: |\n", name)
		for line := range strings.Lines(entries[name]) {
			if line != "\n" {
				object.WriteString("    ")
			}
			object.WriteString(line)
		}
	}
	return object.String()
}
