package result

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Write writes the report to a folder: <name>.json, <name>.md, and a
// <name>-<chart>.svg for each chart.
func (r *Report) Write(dir, name string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write report %s: %w", name, err)
	}
	files := map[string][]byte{
		name + ".json": append(text, '\n'),
		name + ".md":   []byte(r.Conditions() + "\n" + r.Markdown()),
	}
	if err := r.drawInto(files, name); err != nil {
		return err
	}
	return writeFiles(dir, files)
}

func (r *Report) drawInto(files map[string][]byte, name string) error {
	for _, scenario := range r.Scenarios {
		for _, chart := range scenario.Charts {
			image, err := chart.SVG()
			if err != nil {
				return err
			}
			files[name+"-"+chart.Name+".svg"] = image
		}
	}
	return nil
}

// Read reads a report that Write wrote.
func Read(dir, name string) (*Report, error) {
	path := filepath.Join(dir, name+".json")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	report := &Report{}
	if err := json.Unmarshal(text, report); err != nil {
		return nil, fmt.Errorf("read report %s: %w", path, err)
	}
	return report, nil
}

// Names returns the names of the reports in a folder, ascending.
func Names(dir string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("list reports in %s: %w", dir, err)
	}
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = strings.TrimSuffix(filepath.Base(path), ".json")
	}
	return names, nil
}

func writeFiles(dir string, files map[string][]byte) error {
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	return nil
}
