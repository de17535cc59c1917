// Command schemas writes JSON schemas of the files that users write, for their editors, and docs/crds.md, the fields of
// Interlock's own CRDs. `make generate` runs it.
//
// It is a module of its own, because no program of Interlock needs the library that reads Go types.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	root := flag.String("C", "../..", "the repository")
	flag.Parse()
	if err := errors.Join(os.Chdir(*root), write()); err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

// write writes all files. The working folder is the repository.
func write() error {
	crds, err := readCRDs("manifests/crds")
	if err != nil {
		return err
	}
	schemas, err := fileSchemas()
	if err != nil {
		return err
	}
	for _, crd := range crds {
		for _, version := range crd.Spec.Versions {
			schemas[fileName(crd.Spec.Names.Kind, version.Name)] = crd.editorSchema(version)
		}
	}
	const out = "schemas"
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		content, err := json.MarshalIndent(schemas[name], "", " ")
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(out, name), append(content, '\n'), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile("docs/crds.md", []byte(page(crds)), 0o644)
}

// fileName is as tools for editors expect it: the kind and the version, in lower case.
func fileName(kind, version string) string {
	return strings.ToLower(kind) + "_" + version + ".json"
}
