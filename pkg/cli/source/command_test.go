package source

import (
	"testing"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// TestCommandsKeepHub tests that commands have the flags of the hub. Without them, they would act on another hub.
func TestCommandsKeepHub(t *testing.T) {
	const whyCommand, enable = "kubectl addon why a", "clusteradm addon enable --names a --clusters c1"
	for name, test := range map[string]struct {
		flags            []string
		line, want, note string
	}{
		"the current context": {nil, enable, enable, ""},
		"a context":           {[]string{"--context", "prod hub"}, enable, enable + " --context 'prod hub'", ""},
		"a quote":             {[]string{"--context", "it's"}, whyCommand, whyCommand + ` --context 'it'\''s'`, ""},
		"a kubeconfig": {
			[]string{"--kubeconfig", "/a/b", "--context", "x"},
			"kubectl get managedclusters",
			"kubectl get managedclusters --context x --kubeconfig /a/b", "",
		},
		"a server": {
			[]string{"--server", "https://a", "--token", "secret"},
			enable, enable,
			"The commands act on the hub and as the user of the current context, without --server, --token.",
		},
		"another user": {
			[]string{"--context", "x", "--as", "me"},
			enable, enable + " --context x",
			"The commands act on the hub and as the user of that context, without --as.",
		},
		"a file":                        {[]string{"--from", "my fleet.json"}, whyCommand, whyCommand + " --from 'my fleet.json'", ""},
		"a file, and a hub":             {[]string{"--from", "f"}, enable, enable, FileNote},
		"a verb that reads a hub only":  {[]string{"--from", "f"}, "kubectl addon doctor", "kubectl addon doctor", FileNote},
		"what is no command":            {[]string{"--context", "x"}, "docs/install.md", "docs/install.md", ""},
		"nothing to run, though a file": {[]string{"--from", "f"}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Source{Config: genericclioptions.NewConfigFlags(true)}
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			s.Config.AddFlags(flags)
			s.AddFlags(flags)
			if err := flags.Parse(test.flags); err != nil {
				t.Fatal(err)
			}
			if got := s.Command(test.line); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if got := s.Note(test.line); got != test.note {
				t.Errorf("got the note %q, want %q", got, test.note)
			}
		})
	}
}
