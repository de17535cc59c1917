package result

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const documentIntroduction = `# Performance

Written by ` + "`go run ./test/benchmark document`" + ` from the figures of the runs below; do not edit.

Every bound is a ratio of two measurements made in turns in the same run on the same machine, so that its speed cancels out, or counts what the API server was asked for, or is an absolute limit where it says so.
The hub is a real kube-apiserver with an etcd that does not fsync. addon-manager is the real process. Agents are the code of addon-agent, once for each cluster, in one process; only the leases that they watch are in memory.
A figure is the median of its repetitions, with the least and the greatest value in brackets; where something must never happen, the greatest counts.
Some greatest values are the API server's own doing: since Kubernetes 1.34 it compares, for each version of each resource, its cache with etcd every 5 to 7.5 minutes (feature gate DetectCacheInconsistency), for which it reads all objects. What it falls on takes longer: a streaming list of 60,000 add-ons 38 s instead of 16 s, as ` + "`go run ./test/benchmark --clusters 3000 --addons 20 --scenarios 5 --repetitions 8`" + ` found.
`

// WriteDocument writes a document on all reports in a folder, and the charts
// into a folder beside it that has its name.
func WriteDocument(from, to string) error {
	names, err := Names(from)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("no figures in %s: run the benchmark first", from)
	}
	folder := strings.TrimSuffix(to, filepath.Ext(to))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("write %s: %w", to, err)
	}
	var text strings.Builder
	text.WriteString(documentIntroduction)
	charts := map[string][]byte{}
	for _, name := range names {
		report, err := Read(from, name)
		if err != nil {
			return err
		}
		if err := report.drawInto(charts, name); err != nil {
			return err
		}
		report.describe(&text, name, filepath.Base(folder))
	}
	if err := writeFiles(folder, charts); err != nil {
		return err
	}
	return os.WriteFile(to, []byte(text.String()), 0o644)
}

// describe writes one run's chapter.
func (r *Report) describe(text *strings.Builder, name, charts string) {
	fmt.Fprintf(text, "\n## The %s run\n\n%s\n%s", name, r.Conditions(), r.Markdown())
	for _, scenario := range r.Scenarios {
		for _, chart := range scenario.Charts {
			fmt.Fprintf(text, "\n![%s](%s/%s-%s.svg)\n", chart.Title, charts, name, chart.Name)
		}
	}
	text.WriteString("\n### How it was measured\n\n")
	for _, scenario := range r.Scenarios {
		fmt.Fprintf(text, "- **%s. %s.** %s\n", scenario.ID, scenario.Title, scenario.Method)
	}
}
