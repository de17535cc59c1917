package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const page = `# Runbook

## Alerts

### InterlockDown

**Meaning.** The [guard](glossary.md#guard) of an MCA is [off](install.md#guard), see [Held](#held).

` + "```sh\nkubectl get pods\n```" + `

## Reasons

| reason | meaning | what to do |
|---|---|---|
| ` + "`Stuck`, `Contested`" + ` | it waits | ` + "`kubectl get events`" + ` |
`

func TestEntriesArePlainText(t *testing.T) {
	entries, err := parse(page)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"InterlockDown": "InterlockDown\n\nMeaning. The guard of an MCA is off (docs/install.md#guard), see Held.\n\n    kubectl get pods\n\n" +
			"MCA is short for ManagedClusterAddOn.\n",
		"Stuck":     "Stuck\n\nMeaning: it waits\n\nRepair: `kubectl get events`\n",
		"Contested": "Contested\n\nMeaning: it waits\n\nRepair: `kubectl get events`\n",
	}
	if diff := cmp.Diff(want, entries); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	var object corev1.ConfigMap
	if err := yaml.UnmarshalStrict([]byte(configMap(entries)), &object); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, object.Data); diff != "" {
		t.Errorf("ConfigMap (-want +got):\n%s", diff)
	}
}

func TestCommandsAreNotBroken(t *testing.T) {
	command := "`kubectl get managedclusteraddons -A " + strings.Repeat("--flag ", 20) + "`"
	if got := wrap("Look at the output of " + command + ", and repair it."); !strings.Contains(got, command+",") {
		t.Errorf("the command is broken:\n%s", got)
	}
}

func TestAPageWithoutEntriesOrWithOneTwiceIsRefused(t *testing.T) {
	for content, want := range map[string]string{
		"# Runbook\n": "no entries",
		page + "\n## More\n\n### InterlockDown\n\ntext\n": "InterlockDown has two entries",
	} {
		if _, err := parse(content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}
