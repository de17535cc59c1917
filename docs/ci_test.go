package docs

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// releaseServer serves an archive with the plugin at the address of a release. It returns the address of all releases, and the
// checksum of the archive.
func releaseServer(t *testing.T) (releases, checksum string) {
	t.Helper()
	script := fmt.Sprintf("#!/bin/sh\nexec %q \"$@\"\n", filepath.Join(builtPrograms, "kubectl-addon"))
	var content bytes.Buffer
	zip := gzip.NewWriter(&content)
	archive := tar.NewWriter(zip)
	if err := archive.WriteHeader(&tar.Header{Name: "kubectl-addon", Mode: 0o755, Size: int64(len(script))}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(archive, script); err != nil {
		t.Fatal(err)
	}
	for _, file := range []io.Closer{archive, zip} {
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/v0.1.0/kubectl-addon_linux_amd64.tar.gz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(content.Bytes()) // the client may have disconnected
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, fmt.Sprintf("%x", sha256.Sum256(content.Bytes()))
}

// withAddOns returns a reader with the repository of a user: declarations, an index, wishes and a lock.
func withAddOns(t *testing.T) reader {
	t.Helper()
	r := newReader(t)
	r.write(t, filepath.Join(r.folder, "addons.yaml"),
		"apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnWishes\n"+
			"clusterKinds: [{name: private, kubernetes: 1.32.4, labels: {network: private}}]\naddOns: [{name: cluster-gateway}]\n")
	for _, release := range []string{"cluster-gateway/1.4.0", "managed-serviceaccount/0.10.0", "cluster-proxy/0.8.0"} {
		content := read(t, "docs/examples/resolve/manifests/"+release+".yaml")
		r.write(t, filepath.Join(r.folder, "deploy", filepath.Base(filepath.Dir(release))+".yaml"), content)
	}
	for _, args := range [][]string{{"index", "build", "deploy"}, {"resolve"}} {
		if err := r.run(t, nil, filepath.Join(builtPrograms, "kubectl-addon"), args...); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

var zeros = strings.Repeat("0", 64)

func TestThePageOfPipelines(t *testing.T) {
	releases, checksum := releaseServer(t)
	r := withAddOns(t)
	replacements := []string{"https://github.com/OWNER/interlock/releases/download", releases}
	if err := r.runPage(t, "docs/ci.md", append(replacements, zeros, checksum)...); err != nil {
		t.Fatal(err)
	}
	isSARIF(t, filepath.Join(r.folder, "lint.sarif"))
	if _, err := os.Stat(filepath.Join(r.folder, "manifests/00")); err != nil {
		t.Error(err)
	}
	if err := r.runPage(t, "docs/ci.md", replacements...); err == nil || !strings.Contains(err.Error(), "FAILED") {
		t.Errorf("another archive than that of the checksum was accepted: %v", err)
	}
}

func isSARIF(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	var log struct {
		Version string `json:"version"`
		Runs    []any  `json:"runs"`
	}
	if err == nil {
		err = json.Unmarshal(content, &log)
	}
	if err != nil || log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Errorf("%s: version %q, %d runs, %v", path, log.Version, len(log.Runs), err)
	}
}

// action is the part of an action of GitHub that is tested.
type action struct {
	Inputs map[string]struct {
		Default  string `json:"default"`
		Required bool   `json:"required"`
	} `json:"inputs"`
	Runs struct {
		Steps []struct {
			Name, Shell, If, Run string
			Env                  map[string]string
		} `json:"steps"`
	} `json:"runs"`
}

func readAction(t *testing.T) action {
	t.Helper()
	var parsed action
	if err := yaml.Unmarshal([]byte(read(t, ".github/actions/resolve/action.yml")), &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

// input matches an expression that reads an input. The part after || is the value for an empty input.
var input = regexp.MustCompile(`^\$\{\{ inputs\.([a-z-]+)(?: \|\| .*)? \}\}$`)

// runSteps runs the steps of the action as GitHub does, with inputs.
func (r reader) runSteps(t *testing.T, action action, inputs map[string]string) error {
	t.Helper()
	value := func(name string) string {
		declared, ok := action.Inputs[name]
		if !ok {
			t.Fatalf("no input %q", name)
		}
		if override, ok := inputs[name]; ok {
			return override
		}
		return declared.Default
	}
	output, path := filepath.Join(r.tools, "output"), filepath.Join(r.tools, "path")
	r.write(t, path, "")
	for _, step := range action.Runs.Steps {
		condition, isConditional := strings.CutPrefix(step.If, "inputs.")
		if isConditional && value(strings.TrimSuffix(condition, " != ''")) == "" {
			continue
		}
		environment := []string{"GITHUB_OUTPUT=" + output, "GITHUB_PATH=" + path}
		for name, expression := range step.Env {
			match := input.FindStringSubmatch(expression)
			if match == nil {
				t.Fatalf("%s: %s is no expression of an input", step.Name, expression)
			}
			environment = append(environment, name+"="+value(match[1]))
		}
		added, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		environment = append(environment, "PATH="+strings.TrimSpace(string(added))+":"+os.Getenv("PATH"))
		if err := r.run(t, environment, step.Shell, "-eo", "pipefail", "-c", step.Run); err != nil {
			return fmt.Errorf("%s: %w", step.Name, err)
		}
	}
	return nil
}

func TestTheActionChecks(t *testing.T) {
	releases, checksum := releaseServer(t)
	resolveAction := readAction(t)
	for name, tt := range map[string]struct {
		inputs map[string]string
		change func(r reader)
		want   string
	}{
		"good":          {},
		"without lint":  {inputs: map[string]string{"lint": ""}},
		"another file":  {inputs: map[string]string{"checksum": zeros}, want: "Get kubectl-addon"},
		"no such one":   {inputs: map[string]string{"version": "v9.9.9"}, want: "Get kubectl-addon"},
		"no such kind":  {inputs: map[string]string{"cluster-kind": "none"}, want: "Build"},
		"a missing key": {inputs: map[string]string{"key": "none.pub"}, want: "Is the lock current?"},
		"an empty key":  {inputs: map[string]string{"key": ""}, want: "Is the lock current?"},
		"a mistake": {change: func(r reader) {
			r.write(t, filepath.Join(r.folder, "deploy/cluster-proxy.yaml"), "apiVersion: addon.open-cluster-management.io/v1alpha1\n"+
				"kind: ClusterManagementAddOn\nmetadata:\n  name: cluster-proxy\nspec:\n  dependencies: [{name: cluster-proxy}]\n")
		}, want: "Lint"},
		"another lock": {change: func(r reader) {
			content, err := os.ReadFile(filepath.Join(r.folder, "addons.lock"))
			if err != nil {
				t.Fatal(err)
			}
			r.write(t, filepath.Join(r.folder, "addons.lock"), string(content)+"\n")
		}, want: "Is the lock current?"},
	} {
		t.Run(name, func(t *testing.T) {
			r := withAddOns(t)
			if tt.change != nil {
				tt.change(r)
			}
			inputs := map[string]string{"version": "v0.1.0", "checksum": checksum, "releases": releases, "lint": "deploy"}
			for key, value := range tt.inputs {
				inputs[key] = value
			}
			err := r.runSteps(t, resolveAction, inputs)
			if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want+": ") {
				t.Errorf("%v, want a failure of %q", err, tt.want)
			}
			if inputs["lint"] != "" && (tt.want == "" || tt.want == "Lint") {
				isSARIF(t, filepath.Join(r.folder, "lint.sarif"))
			}
		})
	}
}

func TestThePageHasTheInputsOfTheAction(t *testing.T) {
	action, page := readAction(t), read(t, "docs/ci.md")
	_, table, _ := strings.Cut(page, "| input | default | meaning |\n")
	var named []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| ([^|]*)\\|").FindAllStringSubmatch(table, -1) {
		named = append(named, row[1])
		shown := strings.Trim(strings.TrimSpace(row[2]), "`")
		if declared := action.Inputs[row[1]]; declared.Default != "" && shown != declared.Default || declared.Required && shown != "" {
			t.Errorf("docs/ci.md: default of %s: %q, and the action has %q", row[1], shown, declared.Default)
		}
	}
	for name := range action.Inputs {
		if !slices.Contains(named, name) {
			t.Errorf("docs/ci.md does not explain the input %s", name)
		}
	}
	if len(named) != len(action.Inputs) {
		t.Errorf("docs/ci.md has the inputs %q", named)
	}
}
