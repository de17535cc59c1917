package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// block returns the commands of a section of docs/verify-release.md.
func block(t *testing.T, section string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/verify-release.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## "+section+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	var commands strings.Builder
	for _, match := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
		commands.WriteString(match[1])
	}
	if commands.Len() == 0 {
		t.Fatalf("no commands under %q", section)
	}
	return commands.String()
}

// shell runs commands in a folder, until one fails.
func shell(t *testing.T, folder, commands string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", commands)
	command.Dir = folder
	output, err := command.CombinedOutput()
	return string(output), err
}

func TestUsersCanVerifyARelease(t *testing.T) {
	o := smallOrder(t)
	o.version = "v0.1.0"
	makeRelease(t, o)
	output, err := shell(t, o.out, block(t, "Contents"))
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	// addon-manager in install.yaml; both images in the notes, and in the chart.
	digests := regexp.MustCompile("sha256:[0-9a-f]{64}").FindAllString(output, -1)
	if len(digests) != 5 || len(slices.Compact(slices.Sorted(slices.Values(digests)))) != 2 {
		t.Errorf("digests %q in\n%s", digests, output)
	}
	if err := os.Remove(filepath.Join(o.out, plugin)); err != nil { // the page unpacked it
		t.Fatal(err)
	}
	check := block(t, "Checksums")
	if output, err := shell(t, o.out, check); err != nil || strings.Count(output, ": OK\n") < 10 {
		t.Errorf("%v\n%s", err, output)
	}
	if err := os.WriteFile(filepath.Join(o.out, "install.yaml"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := shell(t, o.out, check); err == nil || !strings.Contains(output, "install.yaml: FAILED") {
		t.Errorf("a changed file is not found: %v\n%s", err, output)
	}
}

// The page names files and identities that the workflow makes.
func TestTheWorkflowSignsAsThePageDescribes(t *testing.T) {
	workflow, err := os.ReadFile("../../.github/workflows/release.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"attestations: write", "subject-path: bin/release/*", "--bundle bin/release/SHA256SUMS.sigstore.json bin/release/SHA256SUMS",
		"xargs cosign sign --yes <bin/release-pushed.txt",
	} {
		if !strings.Contains(string(workflow), want) {
			t.Errorf("release.yml has no %q", want)
		}
	}
	signatures := block(t, "Signatures")
	for _, want := range []string{"--bundle SHA256SUMS.sigstore.json", "/.github/workflows/release.yml@refs/tags/v"} {
		if !strings.Contains(signatures, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	// The steps read the names of images and chart from what was pushed.
	script := regexp.MustCompile(`(?s)id: pushed\n        run: \|\n(.*?)\n      - `).FindStringSubmatch(string(workflow))
	if script == nil {
		t.Fatal("release.yml has no step that reads what was pushed")
	}
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	pushed := "localhost:5000/a/interlock-addon-manager:0.1.0@sha256:1\nghcr.io/a/interlock-addon-agent:0.1.0@sha256:2\nghcr.io/a/charts/interlock:0.1.0@sha256:3\n"
	if err := os.WriteFile(filepath.Join(folder, "bin", "release-pushed.txt"), []byte(pushed), 0o600); err != nil {
		t.Fatal(err)
	}
	output, err := shell(t, folder, "export GITHUB_OUTPUT=/dev/stdout\n"+script[1])
	want := `interlock-addon-manager-name=localhost:5000/a/interlock-addon-manager
interlock-addon-manager-digest=sha256:1
interlock-addon-agent-name=ghcr.io/a/interlock-addon-agent
interlock-addon-agent-digest=sha256:2
interlock-name=ghcr.io/a/charts/interlock
interlock-digest=sha256:3
`
	if err != nil || output != want {
		t.Errorf("%v\n%s", err, output)
	}
	for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
		output, _, _ := strings.Cut(line, "=")
		if !strings.Contains(string(workflow), "steps.pushed.outputs."+output+" }}") {
			t.Errorf("no step of release.yml uses %s", output)
		}
	}
}
