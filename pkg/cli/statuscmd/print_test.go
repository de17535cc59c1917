package statuscmd

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/cli/output"
)

func TestPrint(t *testing.T) {
	readTime := time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)
	rows := []Row{{
		Namespace: "cluster1", Name: "gateway", Degraded: "True", Since: readTime.Add(-90 * time.Minute), Reason: "DiskFull",
		Message: "It's \"full\": 100 %\n\x1b[31mred",
	}}
	for _, test := range []struct {
		name, output string
		rows         []Row
		want, errOut string
	}{
		{name: "a table", rows: rows, want: `NAMESPACE   NAME      AVAILABLE   DEGRADED   SINCE   REASON     MESSAGE
cluster1    gateway   -           True       90m     DiskFull   It's "full": 100 % [31mred
`},
		{name: "JSON", output: "json", rows: rows, want: `[
    {
        "namespace": "cluster1",
        "name": "gateway",
        "available": "",
        "degraded": "True",
        "since": "2026-08-01T08:30:00Z",
        "reason": "DiskFull",
        "message": "It's \"full\": 100 %\n\u001b[31mred"
    }
]
`},
		{name: "YAML", output: "yaml", rows: rows, want: `- available: ""
  degraded: "True"
  message: "It's \"full\": 100 %\n\e[31mred"
  name: gateway
  namespace: cluster1
  reason: DiskFull
  since: "2026-08-01T08:30:00Z"
`},
		{name: "names", output: "name", rows: rows, want: "managedclusteraddon.addon.open-cluster-management.io/gateway\n"},
		{name: "a template", output: "jsonpath={[*].name}", rows: rows, want: "gateway"},
		{name: "an empty table", errOut: "No add-ons found on any managed cluster.\n"},
		{name: "no rows as JSON", output: "json", rows: []Row{}, want: "[]\n"},
		{name: "no rows as YAML", output: "yaml", rows: []Row{}, want: "[]\n"},
	} {
		streams, _, out, errOut := genericiooptions.NewTestIOStreams()
		o := options{IOStreams: streams, flags: output.NewFlags(output.Name)}
		command := &cobra.Command{}
		o.flags.AddTo(command)
		err := errors.Join(command.Flags().Set("output", test.output), o.flags.Validate(), o.print(test.rows, len(test.rows), readTime))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff([]string{test.want, test.errOut}, []string{out.String(), errOut.String()}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
