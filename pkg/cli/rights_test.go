package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

// TestWithoutRightToPolicies tests a user with the rights for an earlier Interlock, who may not list policies.
func TestWithoutRightToPolicies(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	server := serve(t)
	got := run(t, "why", "-A", "--server", server, "--as", "viewer")
	for _, want := range []string{
		"AddOnDependencyPolicies are left out, so dependencies that they override are shown as declared: list addondependencypolicies: " +
			"addondependencypolicies is forbidden: User cannot list; ask for that right; " +
			"docs/kubectl-addon.md lists the rights that the plugin needs\n",
		"1. managed-serviceaccount is not available",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestLintWithoutRightToAddOns tests that lint makes its other checks without the right to list ManagedClusterAddOns.
func TestLintWithoutRightToAddOns(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	path := filepath.Join(t.TempDir(), "add-on.yaml")
	const manifest = "kind: ClusterManagementAddOn\napiVersion: addon.open-cluster-management.io/v1alpha1\nmetadata: {name: a}\n" +
		"spec: {installStrategy: {type: Manual}, dependencies: [{name: managed-serviceaccount, version: '>= 0.6.0'}]}\n"
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, "lint", "--live", path, "--server", serve(t), "--as", "author")
	for _, want := range []string{
		"[NoMessage]\n", "Versions of add-ons were not checked: list managedclusteraddons: managedclusteraddons is forbidden: User cannot " +
			"list (ask for that right; ",
	} {
		if !strings.Contains(got, want) || strings.Contains(got, "exit code") {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestSuggestWithoutRightToWorks tests that suggest still uses AddOnTemplates without the right to list ManifestWorks.
func TestSuggestWithoutRightToWorks(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	got := run(t, "suggest", "--server", serve(t), "--as", "reader")
	for _, want := range []string{
		"cluster-gateway   cert-manager   Required   AddOnTemplate cluster-gateway-1.4: has Certificate",
		"AddOnTemplate cert-manager-1.16: image quay.io/jetstack/cert-manager-controller:v1.16.2\n",
		"managed-serviceaccount       -         50         cannot tell: ManifestWorks cannot be read\n",
		"ManifestWorks are left out: list manifestworks: manifestworks is forbidden: User cannot list (ask for that right; ",
	} {
		if !strings.Contains(got, want) || strings.Contains(got, "exit code") {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestLintReadsPipe tests that a file on standard input is read only once.
func TestLintReadsPipe(t *testing.T) {
	streams, stdin, out, errOut := genericiooptions.NewTestIOStreams()
	stdin.WriteString(run(t, "snapshot", "-", "--from", file(t, hub())))
	command := NewCommand(streams)
	command.SetArgs([]string{"lint", "testdata/files/add-ons.yaml", "--from", "-"})
	code := cmdline.Run(t.Context(), command, errOut)
	if want := `no version of "managed-serviceaccount" is known on 50 of the 50 managed clusters`; code != cmdline.ExitError ||
		!strings.Contains(out.String(), want) {
		t.Errorf("exit code %d, no %q in %s%s", code, want, out, errOut)
	}
}

func TestLintNamesStandardInput(t *testing.T) {
	streams, stdin, out, errOut := genericiooptions.NewTestIOStreams()
	stdin.WriteString("apiVersion: addon.open-cluster-management.io/v1alpha1\nkind: ClusterManagementAddOn\nmetadata: {name: a}\n" +
		"spec:\n  installStrategy: {type: Manual}\n  dependencies: [{name: b, version: ^^1}]\n")
	command := NewCommand(streams)
	command.SetArgs([]string{"lint", "-"})
	code := cmdline.Run(t.Context(), command, errOut)
	want := "standard input:6: a: error: spec.dependencies[0].version"
	if code != cmdline.ExitError || !strings.HasPrefix(out.String(), want) {
		t.Errorf("exit code %d, no %q in %s%s", code, want, out, errOut)
	}
}
