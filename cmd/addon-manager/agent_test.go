package main

import (
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/cmdline"
	"open-cluster-management.io/interlock/pkg/hub/agentaddon"
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
	for _, test := range []struct {
		name  string
		given agentOptions
		want  *agentaddon.Options
	}{
		{"off", agentOptions{placement: globalPlacement}, nil},
		{"off, with an image", agentOptions{image: "a", placement: globalPlacement}, nil},
		{"on", agentOptions{install: true, image: "a", placement: globalPlacement}, placed("a", "open-cluster-management-global-set", "global")},
		{"by hand", agentOptions{install: true, image: "a"}, placed("a", "", "")},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.given.complete()
			if err != nil || (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
				t.Errorf("got %+v, error %v, want %+v", got, err, test.want)
			}
		})
	}
}

func placed(image, namespace, name string) *agentaddon.Options {
	options := &agentaddon.Options{Image: image}
	options.Placement.Namespace, options.Placement.Name = namespace, name
	return options
}
