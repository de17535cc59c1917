package cli

import (
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// readers are verbs that read managed clusters.
var readers = []string{
	"why", "status", "tree", "graph", "events", "report", "doctor", "impact", "lint", "suggest", "wait", "verify", "upgrade", "snapshot",
	"install", "uninstall",
}

func TestVerbsSelectClusters(t *testing.T) {
	root := NewCommand(genericiooptions.NewTestIOStreamsDiscard())
	for _, name := range readers {
		verb, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		if flag := verb.Flags().ShorthandLookup("l"); flag == nil || flag.Name != "selector" {
			t.Errorf("%s has no -l", name)
		}
		all := verb.Flags().ShorthandLookup("A")
		// The verbs that write have --cluster instead, so that -A is no accident.
		if writes := strings.HasSuffix(name, "install"); (all == nil) != writes {
			t.Errorf("%s: -A is %v", name, all)
		}
	}
}

func TestSelectedClusters(t *testing.T) {
	content := hub()
	for i := range content.Clusters {
		if i < 2 || i >= 38 {
			content.Clusters[i].Labels["environment"] = "production"
		}
	}
	fleet := file(t, content)
	for command, want := range map[string]string{
		"why":                         "13 managed clusters (without 1 that cannot be reached) with the labels environment=production:\n",
		"why -n cluster30":            "no managed cluster with the labels environment=production: kubectl get managedclusters",
		"tree managed-serviceaccount": "2 clusters (cluster01, cluster02):",
		"graph -o jsonpath={.nodes[?(@.name=='cluster-proxy')].clusters}": "14",
		"events cluster-proxy -o jsonpath={.items[*].cluster}":            "cluster39",
		"report -o jsonpath={.items[*].metadata.name}":                    "cluster01 cluster02 cluster40",
		"impact --remove managed-serviceaccount":                          "Tried on 13 managed clusters (without 1 that cannot be reached).",
		"wait cluster-gateway --timeout 0":                                "cluster-gateway   2: cluster01, cluster02",
		"status cluster-proxy -o jsonpath={[*].namespace}":                "cluster01 cluster02 cluster39",
		"snapshot - -o json":                                              "kubectl addon snapshot: unknown shorthand flag: 'o' in -o",
	} {
		got := run(t, append(strings.Fields(command), "-l", "environment=production", "--from", fleet)...)
		if !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", command, want, got)
		}
	}
	if got := run(t, "snapshot", "-", "-l", "environment=production", "--from", fleet); strings.Contains(got, `"cluster03"`) ||
		!strings.Contains(got, `"cluster40"`) {
		t.Error("the snapshot has other clusters than selected")
	}
	expectRun(t, "why -l a=b=c --from "+fleet, `kubectl addon why: invalid argument "a=b=c" for "-l, --selector" flag:`, "exit code 2")
}
