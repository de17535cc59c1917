package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const gateway = `apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata:
  name: gateway
  annotations: {addon.open-cluster-management.io/dependencies: "[{name: proxy, version: '>= 2'}]"}
spec: {installStrategy: {type: Manual}}
`

const proxy = `apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata:
  name: proxy
spec: {installStrategy: {type: Manual}}
`

// resolvable changes to a folder with manifests, an index and wishes.
func resolvable(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{
		"gateway/a.yaml": gateway, "proxy/a.yaml": proxy,
		"addons.yaml": "apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnWishes\naddOns: [{name: gateway}]\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expectRun(t, "index build gateway --version gateway=1.0.0", "gateway 1.0.0 was added\n")
	expectRun(t, "index build proxy --version proxy=2.0.0", "proxy 2.0.0 was added\n")
	expectRun(t, "index build proxy --version proxy=2.0.0", "proxy 2.0.0 is there already\n")
	expectRun(t, "index build proxy --version proxy=3.0.0", "proxy 3.0.0 was added\n")
}

// expectRun expects the output of a command to begin with a text, and to have further parts.
func expectRun(t *testing.T, command, want string, parts ...string) {
	t.Helper()
	got := run(t, strings.Fields(command)...)
	if !strings.HasPrefix(got, want) {
		t.Errorf("%s: got %q, want %q", command, got, want)
	}
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("%s: no %q in %q", command, part, got)
		}
	}
}

func TestResolveWritesALock(t *testing.T) {
	resolvable(t)
	expectRun(t, "resolve --locked", "CLUSTERS",
		"kubectl addon resolve: addons.lock: there is no lock yet: kubectl addon resolve writes it", "exit code 2")
	expectRun(t, "package", "kubectl addon package: addons.lock: there is no lock yet: kubectl addon resolve writes it", "exit code 2")
	if _, err := os.Stat("addons.lock"); err == nil {
		t.Error("--locked wrote a file")
	}
	expectRun(t, "resolve",
		"CLUSTERS",
		"default    proxy     3.0.0     gateway 1.0.0 requires proxy in version '>= 2'",
		"addons.lock was written.")
	expectRun(t, "resolve", "CLUSTERS", "addons.lock is current.")
	expectRun(t, "resolve --locked -o jsonpath={.clusterKinds[0].addOns[1].version}", "3.0.0addons.lock is current.")
	expectRun(t, "index build proxy --version proxy=3.1.0", "proxy 3.1.0 was added\n")
	expectRun(t, "resolve --locked", "CLUSTERS", "the lock differs", "exit code 1")
	expectRun(t, "resolve --lock other.lock", "CLUSTERS", "3.1.0", "other.lock was written.")
}

func TestResolveRefuses(t *testing.T) {
	resolvable(t)
	expectRun(t, "resolve none.yaml", "kubectl addon resolve: there is no file or folder none.yaml", "exit code 2")
	expectRun(t, "resolve -o nothing", `kubectl addon resolve: --output="nothing"`, "exit code 2")
	expectRun(t, "resolve --index none", "kubectl addon resolve: none is no index", "exit code 2")
	expectRun(t, "resolve --index none.tar", "kubectl addon resolve: there is no file or folder none.tar", "exit code 2")
	expectRun(t, "resolve --index proxy", "kubectl addon resolve: proxy is no index", "exit code 1")
	expectRun(t, "resolve --workspace gateway",
		`kubectl addon resolve: gateway/a.yaml: add-on "gateway": it reports no version: set the annotation `,
		"exit code 1")
	expectRun(t, "resolve --workspace none", "kubectl addon resolve: ", "there is no file or folder none", "exit code 2")
	expectRun(t, "index build", "kubectl addon index build: name files and folders, or --chart, or --live for the hub", "exit code 2")
	expectRun(t, "index build proxy --live", "kubectl addon index build: name files and folders, or --chart, or --live for the hub",
		"exit code 2")
	expectRun(t, "index build --live --from x", "kubectl addon index build: a snapshot has no manifests", "exit code 2")
	expectRun(t, "index build --live --server http://127.0.0.1:1", "kubectl addon index build: ", "connection refused", "exit code 3")
	expectRun(t, "index build gateway",
		`kubectl addon index build: gateway/a.yaml: add-on "gateway": it reports no version`,
		"or name it with --version gateway=1.2.3",
		"exit code 1")

	expectRun(t, "index build proxy --version proxi=2.5.0",
		"kubectl addon index build: --version: add-on 'proxi' is not in what was read: 'proxy'", "exit code 2")

	old := strings.Replace(proxy, "name: proxy", "name: proxy\n  annotations: "+
		"{dependency.addon.open-cluster-management.io/version: 1.0.0}", 1)
	if err := os.WriteFile("proxy/a.yaml", []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "resolve --workspace proxy", "kubectl addon resolve: on clusters of kind default, this wish cannot be "+
		"satisfied: gateway is wanted; "+
		"gateway 1.0.0 requires proxy in version '>= 2'. The index has gateway 1.0.0; proxy 1.0.0", "exit code 1")
	if _, err := os.Stat("addons.lock"); err == nil {
		t.Error("a conflict wrote a lock")
	}

	released := "index/addons/proxy/2.0.0.yaml"
	content, err := os.ReadFile(released)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(released, []byte(strings.Replace(string(content), "Manual", "Placements", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "resolve", "kubectl addon resolve: "+released+": digest: the file was changed after it was made", "exit code 1")
}

func TestIndexOfChart(t *testing.T) {
	resolvable(t)
	for name, content := range map[string]string{
		"chart/Chart.yaml":             "apiVersion: v2\nname: gateways\nversion: 1.4.0\ndependencies: [{name: b, version: 1.0.0}]\n",
		"chart/charts/b/Chart.yaml":    "apiVersion: v2\nname: b\nversion: 1.0.0\n",
		"chart/templates/gateway.yaml": gateway,
		"chart/templates/more/proxy.yaml": strings.Replace(proxy, "name: proxy",
			"name: proxy\n  annotations: {dependency.addon.open-cluster-management.io/version: 4.0.0}", 1),
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expectRun(t, "index build --chart chart", "gateway 1.4.0 was added\nproxy 4.0.0 was added\n",
		"gateways: the dependencies in Chart.yaml are charts and no add-ons, and are not in the index: b.")
	expectRun(t, "index build --chart chart --version gateway=1.4.1", "gateway 1.4.1 was added\nproxy 4.0.0 is there already\n")
	expectRun(t, "index build --chart chart proxy", "kubectl addon index build: name files and folders, or --chart, or --live", "exit code 2")
	expectRun(t, "index build --chart chart --version gateways=1.0.0",
		"gateways: the dependencies", "--version: add-on 'gateways' is not in what was read: 'gateway', 'proxy'", "exit code 2")
	expectRun(t, "index build --chart none", "kubectl addon index build: there is no file or folder none", "exit code 2")
}

// TestHelmUpdate tests the cases of helm dependency update with local dependencies. Their names are helm's messages.
func TestHelmUpdate(t *testing.T) {
	versioned := func(version string) string {
		return strings.Replace(proxy, "name: proxy", "name: proxy\n  annotations: "+
			"{dependency.addon.open-cluster-management.io/version: "+version+"}", 1)
	}
	const conflict = "kubectl addon resolve: on clusters of kind default, this wish cannot be satisfied: gateway is wanted; "
	for name, c := range map[string]struct{ local, command, want string }{
		"a local dependency (file://../b)": {versioned("5.0.0-dev"), "resolve --workspace local", conflict},
		"a local dependency with its version": {
			versioned("5.0.0"), "resolve --workspace local",
			"CLUSTERS   ADD-ON    VERSION   BECAUSE\ndefault    gateway   1.0.0     wanted\ndefault    proxy     5.0.0",
		},
		"can't get a valid version for proxy": {
			versioned("1.0.0"), "resolve --workspace local",
			conflict + "gateway 1.0.0 requires proxy in version '>= 2'. The index has gateway 1.0.0; proxy 1.0.0",
		},
		"a local dependency without any version": {
			proxy, "resolve --workspace local",
			`kubectl addon resolve: local/a.yaml: add-on "proxy": it reports no version`,
		},
		"a local dependency that is not there": {"", "resolve --workspace none", "kubectl addon resolve: "},
	} {
		t.Run(name, func(t *testing.T) {
			resolvable(t)
			expectRun(t, "resolve", "CLUSTERS")
			original, err := os.ReadFile("addons.lock")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll("local", 0o750); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile("local/a.yaml", []byte(c.local), 0o600); err != nil {
				t.Fatal(err)
			}
			expectRun(t, c.command, c.want)
			current, err := os.ReadFile("addons.lock")
			if fails := strings.HasPrefix(c.want, "kubectl"); err != nil || fails && string(current) != string(original) {
				t.Errorf("restoring pre-update state: the lock was changed: %v", err)
			}
		})
	}
}

// The digest of a release counts. Its source is a note: two people index the same files from different folders.
func TestTheSourceOfAReleaseDoesNotCount(t *testing.T) {
	resolvable(t)
	expectRun(t, "resolve", "CLUSTERS")
	original, err := os.ReadFile("addons.lock")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS("checkout/proxy", os.DirFS("proxy")); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "index build gateway --version gateway=1.0.0 --source https://example.com --to other", "gateway 1.0.0 was added\n")
	expectRun(t, "index build checkout/proxy --version proxy=3.0.0 --to other", "proxy 3.0.0 was added\n")
	expectRun(t, "index build checkout/proxy --version proxy=2.0.0 --to other", "proxy 2.0.0 was added\n")
	for _, command := range []string{"resolve --locked", "resolve", "build --locked", "upgrade --write", "package"} {
		if got := run(t, strings.Fields(command+" --index other")...); strings.Contains(got, "exit code") {
			t.Errorf("%s: %s", command, got)
		}
	}
	expectRun(t, "verify --index other --to manifests", "0 differences.\n")
	if current, err := os.ReadFile("addons.lock"); err != nil || string(current) != string(original) {
		t.Errorf("the lock was written again: %s, %v", current, err)
	}
	expectRun(t, "index build checkout/proxy --version proxy=3.1.0 --to other", "proxy 3.1.0 was added\n")
	expectRun(t, "resolve --index other", "CLUSTERS", "addons.lock was written.")
	expectFile(t, "addons.lock", "source: gateway\n", "source: checkout/proxy\n")
}

// What differs from the lock is said per add-on.
func TestALockThatDiffersIsExplained(t *testing.T) {
	resolvable(t)
	expectRun(t, "resolve", "CLUSTERS")
	expectRun(t, "index build proxy --version proxy=3.1.0", "proxy 3.1.0 was added\n")
	for _, command := range []string{"resolve --locked", "build --locked", "package"} {
		expectRun(t, command, "", "run kubectl addon resolve, and review what changes\n"+
			"  clusters of kind default: proxy: locked 3.0.0, found 3.1.0: gateway 1.0.0 requires proxy in version '>= 2'\n", "exit code 1")
	}
}

// Another spelling of the path of a workspace gives the same lock.
func TestAWorkspaceInAnotherSpelling(t *testing.T) {
	resolvable(t)
	writeFiles(t, map[string]string{"deploy/new/a.yaml": strings.ReplaceAll(registrationHead, "NAME", "gateway") + "spec: {}\n"})
	folder, err := filepath.Abs("deploy/new")
	if err != nil {
		t.Fatal(err)
	}
	for _, spelling := range []string{"deploy/new", "deploy/new/", "./deploy/new", "deploy/../deploy/new", folder} {
		if err := os.RemoveAll("addons.lock"); err != nil {
			t.Fatal(err)
		}
		expectRun(t, "resolve --workspace "+spelling, "CLUSTERS")
		expectFile(t, "addons.lock", "source: workspace deploy/new\n")
	}
	t.Chdir("deploy")
	expectRun(t, "resolve ../addons.yaml --index ../index --workspace new --locked", "CLUSTERS", "addons.lock is current.")
	expectRun(t, "package ../addons.yaml --index ../index --workspace new",
		"kubectl addon package: --workspace: what is not released", "exit code 2")
}
