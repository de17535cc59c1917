package hubcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/deploy"
	"open-cluster-management.io/interlock/pkg/cli/doctor"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/hubrecord"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/hubrelease"
	"open-cluster-management.io/interlock/pkg/report"
)

// run runs a verb without a hub.
func run(t *testing.T, args ...string) (int, string) {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	var out bytes.Buffer
	src := &source.Source{Config: genericclioptions.NewConfigFlags(true)}
	command := NewCommand(src, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &out})
	src.AddFlags(command.PersistentFlags())
	src.Config.AddFlags(command.PersistentFlags())
	command.SetArgs(args)
	return cmdline.Run(t.Context(), command, &out), out.String()
}

func TestWrongCallsAreUsageErrors(t *testing.T) {
	for line, want := range map[string]string{
		"install":                                    "accepts 1 arg(s), received 0",
		"install a b":                                "accepts 1 arg(s), received 2",
		"upgrade a b":                                "accepts at most 1 arg(s), received 2",
		"install a --output xml --dry-run":           `--output="xml": choose yaml or json`,
		"install a --output yaml":                    "--output needs --dry-run",
		"install a --timeout 0s":                     "--timeout=0s: it has to be longer than 0",
		"install a --registry https://registry.test": "leave out the protocol",
		"install a --images b":                       "--images needs --registry",
		"install a --from fleet.json":                "--from: this verb needs a hub",
		"uninstall --from fleet.json --yes":          "--from: this verb needs a hub",
		"uninstall":                                  "use --yes, or --dry-run",
		"uninstall --yes --timeout 0s":               "--timeout=0s",
	} {
		if code, out := run(t, strings.Fields(line)...); code != cmdline.ExitUsage || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, %s", line, code, out)
		}
	}
	if code, out := run(t, "install", ""); code != cmdline.ExitUsage || !strings.Contains(out, "RELEASE is empty") {
		t.Errorf("exit code %d, %s", code, out)
	}
	for _, line := range []string{"install a", "upgrade", "uninstall --yes"} {
		if code, out := run(t, append(strings.Fields(line), "--server", "http://127.0.0.1:1")...); code != cmdline.ExitHub {
			t.Errorf("%s: exit code %d, %s", line, code, out)
		}
	}
}

func TestValues(t *testing.T) {
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte("agent: {install: true}\nreports: all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	earlier := map[string]any{"agent": map[string]any{"metrics": true}, "guard": "off"}
	for name, test := range map[string]struct {
		options options
		want    map[string]any
		err     string
	}{
		"none": {options{}, earlier, ""},
		"all": {
			options{valueFiles: []string{file}, set: []string{"agent.metrics=false", "guard=auto"}},
			map[string]any{"agent": map[string]any{"install": true, "metrics": false}, "guard": "auto", "reports": "all"},
			"",
		},
		"reset":    {options{resetValues: true, set: []string{"a=b"}}, map[string]any{"a": "b"}, ""},
		"no file":  {options{valueFiles: []string{file + "x"}}, nil, "--values: "},
		"no value": {options{set: []string{"a"}}, nil, `--set="a": `},
		"two prefixes": {
			options{set: []string{"images.prefix=a/"}, registry: "registry.test"},
			nil,
			"--registry=registry.test decides images.prefix",
		},
	} {
		got, err := test.options.values(earlier)
		if test.err == "" && (err != nil || !reflect.DeepEqual(got, test.want)) {
			t.Errorf("%s: %v, want %v, %v", name, got, test.want, err)
		}
		if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !reflect.DeepEqual(earlier, map[string]any{"agent": map[string]any{"metrics": true}, "guard": "off"}) {
		t.Errorf("the earlier values were changed: %v", earlier)
	}
}

func TestNextRecord(t *testing.T) {
	release := &hubrelease.Release{Chart: &chartv2.Chart{Metadata: &chartv2.Metadata{Version: "2.0.0"}}}
	current := &hubrecord.Record{Version: "1.0.0", Registry: "registry.test/team", Tag: "built"}
	own := map[string]any{"images": map[string]any{"prefix": "mirror.test/", "tag": "mine"}}
	for name, test := range map[string]struct {
		values       map[string]any
		registry     string
		sameVersion  bool
		wantRegistry string
		wantTag      string
	}{
		"other values":       {nil, "", true, "registry.test/team", "built"},
		"another version":    {nil, "", false, "registry.test/team", ""},
		"another registry":   {nil, "new.test", false, "new.test", ""},
		"images of the user": {own, "", true, "", ""},
	} {
		got := next(release, current, test.values, test.registry, test.sameVersion)
		if got.Registry != test.wantRegistry || got.Tag != test.wantTag || got.Version != "2.0.0" || got.State != hubrecord.Applying {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The checks at the end wait for the guard, which the leader installs.
func TestIsSettled(t *testing.T) {
	for name, test := range map[string]struct {
		status report.CheckStatus
		check  string
		values map[string]any
		want   bool
	}{
		"all is well":        {report.CheckPassed, doctor.GuardCheck, nil, true},
		"no guard yet":       {report.CheckNote, doctor.GuardCheck, nil, false},
		"no guard is wanted": {report.CheckNote, doctor.GuardCheck, map[string]any{"guard": "off"}, true},
		"another note":       {report.CheckNote, "graft", nil, true},
		"a failure":          {report.CheckFailed, "leader", map[string]any{"guard": "off"}, false},
	} {
		a := &application{next: &hubrecord.Record{Values: test.values}}
		diagnosis := &report.Diagnosis{Items: []report.CheckResult{{Check: test.check, Status: test.status}}}
		if got := a.isSettled(diagnosis); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// The documentation tells users of Helm to apply the example.
func TestPlacementIsThatOfTheExample(t *testing.T) {
	example, err := os.ReadFile("../../../docs/examples/global-placement.yaml")
	if err != nil || !bytes.Equal(example, deploy.GlobalPlacement) {
		t.Errorf("deploy/global-placement/global-placement.yaml differs from docs/examples/global-placement.yaml: copy it (%v)", err)
	}
}
