package result

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const documentIntroduction = `# Performance

Written by ` + "`go run -C test/benchmark . document`" + ` from the results of the runs below; do not edit.

A bound is one of three:

- a ratio of two measurements that alternate in the same run on the same machine, so that its speed cancels out,
- a count of requests to the API server,
- an absolute limit.

The hub is a real kube-apiserver, with an etcd that does not fsync. addon-manager is the real process. The agents are the code of addon-agent, once per cluster, all in one process. Only the leases that they watch are in memory. The add-ons of all clusters but the first are copies of its own, which are stored in etcd; runs that started before 2026-11-26 installed each through the API server.

A figure is the median of its repetitions. The least and the greatest value follow in brackets. Where something must never happen, the greatest value counts.

Some of the greatest values come from the API server. Since Kubernetes 1.34, it compares its cache of each resource with etcd every 5 to 7.5 minutes (feature gate DetectCacheInconsistency). For this it reads all objects, and a measurement at that time takes longer. A streaming list of 60,000 add-ons took 38 s instead of 16 s (` + "`go run -C test/benchmark . --clusters 3000 --addons 20 --scenarios 5 --repetitions 8`" + `).
`

// WriteDocument writes a document on all reports in a folder. It writes the charts into a folder beside the document,
// with the same name.
func WriteDocument(figures, document string) error {
	names, err := Names(figures)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("no figures in %s: run the benchmark first", figures)
	}
	folder := strings.TrimSuffix(document, filepath.Ext(document))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("write %s: %w", document, err)
	}
	var text strings.Builder
	text.WriteString(documentIntroduction)
	charts := map[string][]byte{}
	for _, name := range names {
		report, err := Read(figures, name)
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
	return os.WriteFile(document, []byte(text.String()), 0o644)
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
