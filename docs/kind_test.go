package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/cli/statuscmd"
)

// make e2e-kind compares the page with the plugin's output, column by column.
func TestKindPageHasTheColumnsOfStatus(t *testing.T) {
	_, output, _ := strings.Cut(read(t, "docs/kind.md"), "\nkubectl addon status -n cluster1\n```\n\n```text\n")
	heading, _, _ := strings.Cut(output, "\n")
	if got := strings.Fields(heading); !slices.Equal(got, statuscmd.Heading) {
		t.Errorf("docs/kind.md shows the columns %q, the plugin prints %q", got, statuscmd.Heading)
	}
}

// make e2e-kind runs the page with images of these versions.
func TestKindPageNamesTheTestedVersions(t *testing.T) {
	for _, tested := range []struct{ module, required, named string }{
		{"test/ocm/go.mod", `open-cluster-management\.io/ocm (v\S+)`, `--bundle-version (v[0-9.]+)`},
		{"test/controlplane/go.mod", `k8s\.io/kubernetes (v\S+)`, `kind-node:(v[0-9.]+)`},
	} {
		version := regexp.MustCompile(tested.required).FindStringSubmatch(read(t, tested.module))
		if version == nil {
			t.Fatalf("%s does not require %s", tested.module, tested.required)
		}
		for _, page := range []string{"docs/kind.md", "docs/dev/testing.md"} {
			matches := regexp.MustCompile(tested.named).FindAllStringSubmatch(read(t, page), -1)
			if page == "docs/kind.md" && len(matches) < 2 {
				t.Errorf("%s has %q %d times", page, tested.named, len(matches))
			}
			for _, match := range matches {
				if match[1] != version[1] {
					t.Errorf("%s has %q, %s requires %s", page, match[0], tested.module, version[1])
				}
			}
		}
	}
}
