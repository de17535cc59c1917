package main

import (
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

func TestWrongCallsOfTheConsole(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"--console-bind-address=0"}, `--console-bind-address="0": there is nothing else to serve`},
		{[]string{"--console-bind-address=9443"}, `--console-bind-address="9443": must be [host]:port`},
		{[]string{"--metrics-bind-address=x"}, `--metrics-bind-address="x"`},
		{[]string{"--health-probe-bind-address=x"}, `--health-probe-bind-address="x"`},
		{[]string{"--review-interval=10ms"}, "--review-interval=10ms: must be at least 1s"},
		{[]string{"--group-by=a/b/c"}, `--group-by="a/b/c": must be the name of a label`},
		{[]string{"--host=https://a.example"}, `--host="https://a.example": must be a name or an address`},
		{[]string{"--host="}, `--host="": must be a name`},
		{[]string{"--certificate-dir=/nowhere"}, `--certificate-dir="/nowhere": open`},
		{[]string{"--namespace=A_b"}, `--namespace="A_b": `},
		{[]string{"--service-name=A.b"}, `--service-name="A.b": `},
		{[]string{"--log-format=xml"}, `--log-format="xml"`},
		{[]string{"--leader-elect"}, "unknown flag"},
		{[]string{"page"}, "unknown command"},
	} {
		code, _, errOut := run(t, append([]string{"console"}, test.arguments...)...)
		if code != cmdline.ExitUsage || !strings.Contains(errOut, test.want) {
			t.Errorf("%v: exit code %d, %q", test.arguments, code, errOut)
		}
	}
}
