package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/hub/setup/agentaddon"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

func TestWrongCallsOfInstallAgent(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"--install-agent"}, "--agent-image is required with --install-agent"},
		{[]string{"--install-agent=maybe"}, `"maybe"`},
		{[]string{"--install-agent", "--agent-image=a b"}, `--agent-image="a b": must be the reference of an image`},
		{[]string{"--install-agent", "--agent-image=a", "--agent-placement=global"}, `--agent-placement="global": must be namespace/name`},
		{[]string{"--install-agent", "--agent-image=a", "--agent-placement=a/B"}, `--agent-placement="a/B"`},
	} {
		code, _, errOut := run(t, test.arguments...)
		if code != cmdline.ExitUsage || !strings.Contains(errOut, test.want) {
			t.Errorf("%v: exit code %d, %q", test.arguments, code, errOut)
		}
	}
}

func TestAgentOptions(t *testing.T) {
	global := types.NamespacedName{Namespace: "open-cluster-management-global-set", Name: "global"}
	for _, test := range []struct {
		name    string
		options agentOptions
		want    *agentaddon.Options
	}{
		{"off", agentOptions{placement: globalPlacement}, nil},
		{"off, with an image", agentOptions{image: "a", placement: globalPlacement}, nil},
		{"rights alone", agentOptions{grant: true, placement: globalPlacement}, &agentaddon.Options{}},
		{
			"installed by the deprecated flag",
			agentOptions{install: true, image: "a", placement: globalPlacement},
			&agentaddon.Options{Install: &agentaddon.Installation{Image: "a", Placement: global}},
		},
		{
			"by hand",
			agentOptions{install: true, grant: true, image: "a"},
			&agentaddon.Options{Install: &agentaddon.Installation{Image: "a"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.options.complete()
			if difference := cmp.Diff(test.want, got); err != nil || difference != "" {
				t.Errorf("error %v, wanted (-) and got (+):\n%s", err, difference)
			}
		})
	}
}
