package deployment

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// deployed runs hack/deploy.sh with a kubectl that keeps its arguments and its input folder.
// It returns the arguments, and the objects of the kustomization in the folder.
func deployed(t *testing.T, command string, environment ...string) (string, objects) {
	t.Helper()
	// The kept folder is beside the folder that the script creates, because paths in it are relative.
	kept, err := os.MkdirTemp("../../deploy", ".kept-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(kept) })
	absolute, err := filepath.Abs(kept)
	if err != nil {
		t.Fatal(err)
	}
	kubectl := filepath.Join(t.TempDir(), "kubectl")
	script := "#!/bin/sh\n" +
		"case $1 in apply|delete) echo \"$@\" >" + absolute + "/command; for folder; do :; done; cp \"$folder\"/* " + absolute + "/;; esac\n"
	if err := os.WriteFile(kubectl, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	run := exec.Command("../deploy.sh", command)
	run.Env = append(os.Environ(), append(environment, "KUBECTL="+kubectl)...)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	line, err := os.ReadFile(filepath.Join(kept, "command"))
	if err != nil {
		t.Fatal(err)
	}
	return string(line), base(t, kept)
}

func TestMakeDeployAppliesItsImages(t *testing.T) {
	for name, test := range map[string]struct {
		environment  []string
		want, absent []string
	}{
		"without the agent": {
			[]string{"IMAGE=registry.example.com:5000/interlock-addon-manager:v9"},
			[]string{"image: registry.example.com:5000/interlock-addon-manager:v9"},
			[]string{"--grant-agent-rights", "addon-agent"},
		},
		"with the agent": {
			[]string{"IMAGE=mirror/addon-manager:v9", "AGENT_IMAGE=mirror/addon-agent:v9"},
			[]string{"image: mirror/addon-manager:v9", "- --grant-agent-rights", "image: mirror/addon-agent:v9"},
			[]string{"quay.io"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			line, made := deployed(t, "apply", test.environment...)
			if !strings.HasPrefix(line, "apply -k ") {
				t.Errorf("kubectl %s", line)
			}
			content, err := yaml.Marshal([]object{made["Deployment/"+namespace+"/interlock-addon-manager"], made["AddOnTemplate//interlock-agent"]})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if !strings.Contains(string(content), want) {
					t.Errorf("no %q in\n%s", want, content)
				}
			}
			for _, absent := range test.absent {
				if strings.Contains(string(content), absent) {
					t.Errorf("%q in\n%s", absent, content)
				}
			}
			_, bound := made["ClusterRoleBinding//interlock-addon-manager-agent"]
			if withAgent := len(test.environment) > 1; bound != withAgent {
				t.Errorf("bound to the right to grant the agents theirs: %v", bound)
			}
		})
	}
}

func TestMakeUndeployDeletesAllThatEitherDeploys(t *testing.T) {
	line, deleted := deployed(t, "delete")
	if !strings.HasPrefix(line, "delete --ignore-not-found -k ") {
		t.Errorf("kubectl %s", line)
	}
	_, applied := deployed(t, "apply", "IMAGE=a:1", "AGENT_IMAGE=b:1")
	if got, want := strings.Join(deleted.keys(), " "), strings.Join(applied.keys(), " "); got != want {
		t.Errorf("deleted are\n%s\nof\n%s", got, want)
	}
}
