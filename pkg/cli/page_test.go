package cli

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// elementsOf returns the texts of the elements of a page, by tag.
func elementsOf(t *testing.T, page string) map[atom.Atom][]string {
	t.Helper()
	document, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	elements := map[atom.Atom][]string{}
	for node := range document.Descendants() {
		if node.Type != html.ElementNode {
			continue
		}
		var content strings.Builder
		for child := range node.Descendants() {
			if child.Type == html.TextNode {
				content.WriteString(child.Data)
			}
		}
		elements[node.DataAtom] = append(elements[node.DataAtom], strings.Join(strings.Fields(content.String()), " "))
	}
	return elements
}

// TestReportWritesPage tests the page of the fleet of hub, read from a file.
func TestReportWritesPage(t *testing.T) {
	fleet := file(t, hub())
	for _, test := range []struct {
		args string
		want map[atom.Atom]string
	}{
		{
			"report -o html", map[atom.Atom]string{
				atom.H1: "Add-ons of fleet.json", atom.H3: "1. managed-serviceaccount is not available: ManagedClusterAddOnLeaseUpdateStopped",
				atom.Code: "kubectl describe managedclusteraddon managed-serviceaccount -n cluster30",
				atom.P:    "50 managed clusters (1 cannot be reached; root causes count the other 49), as read at 2026-08-01 10:05:00 UTC.",
			},
		},
		{"report -o html -n cluster40", map[atom.Atom]string{
			atom.H3: "1. governance-policy-framework is not installed",
			atom.P:  "1 managed cluster on cluster40, as read at 2026-08-01 10:05:00 UTC.",
		}},
		{"report -o html -l vendor=OpenShift --group-by vendor", map[atom.Atom]string{
			atom.Th: "OpenShift50 clusters, 1 lost",
			atom.P: "50 managed clusters (1 cannot be reached; root causes count the other 49) with the labels vendor=OpenShift, " +
				"as read at 2026-08-01 10:05:00 UTC.",
		}},
	} {
		elements := elementsOf(t, run(t, append(strings.Fields(test.args), "--from", fleet)...))
		for tag, want := range test.want {
			if !strings.Contains("\n"+strings.Join(elements[tag], "\n")+"\n", "\n"+want+"\n") {
				t.Errorf("%s: no %s %q in %q", test.args, tag, want, elements[tag])
			}
		}
	}
	notices := strings.Join(elementsOf(t, run(t, "report", "-o", "html", "--from", fleet))[atom.P], "\n")
	for _, want := range []string{"This data is old", "Run the commands on the hub that the file was taken from"} {
		if !strings.Contains(notices, want) {
			t.Errorf("no %q in %s", want, notices)
		}
	}
}

func TestReportRefusesFlagsOfPages(t *testing.T) {
	fleet := file(t, hub())
	for args, want := range map[string]string{
		"report --group-by region":           "--group-by needs --output=html",
		"report -o html --all":               "--all and --output=html: choose one",
		"report -o html --group-by a/b/c":    `--group-by="a/b/c": must be the name of a label`,
		"report -o html --group-by=":         `--group-by="": must be the name of a label`,
		"report -o htm":                      `--output="htm": must be one of`,
		"report -o html --no-headers -n nil": `no managed cluster "nil"`,
	} {
		if got := run(t, append(strings.Fields(args), "--from", fleet)...); !strings.Contains(got, want) || !strings.Contains(got, "exit code") {
			t.Errorf("%s: no %q in\n%s", args, want, got)
		}
	}
}
