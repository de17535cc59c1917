package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func TestPrint(t *testing.T) {
	rows := []Row{{Namespace: "cluster1", Name: "gateway", Degraded: "True", Reason: "DiskFull", Message: "It's \"full\": 100 %\n\x1b[31mred"}}
	for _, test := range []struct {
		name, output string
		rows         []Row
		want, errOut string
	}{
		{name: "a table", rows: rows, want: `NAMESPACE   NAME      AVAILABLE   DEGRADED   REASON     MESSAGE
cluster1    gateway   -           True       DiskFull   It's "full": 100 % [31mred
`},
		{name: "JSON", output: "json", rows: rows, want: `[
    {
        "namespace": "cluster1",
        "name": "gateway",
        "available": "",
        "degraded": "True",
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
`},
		{name: "an empty table", errOut: "No add-ons found on any managed cluster.\n"},
		{name: "no rows as JSON", output: "json", rows: []Row{}, want: "[]\n"},
		{name: "no rows as YAML", output: "yaml", rows: []Row{}, want: "[]\n"},
	} {
		streams, _, out, errOut := genericiooptions.NewTestIOStreams()
		o := options{IOStreams: streams, output: test.output, allNamespaces: true}
		if err := o.print(test.rows); err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff([]string{test.want, test.errOut}, []string{out.String(), errOut.String()}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
