package upstream

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The patched packages build, and pass go vet, OCM's tests and the tests of the patches.
func TestPatchedOCM(t *testing.T) {
	source, err := New(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sameDeclaration(t, source)

	modfile := modfileOf(t, source, own, "api", "ocm")
	goTest(t, own, modfile, "-vet=all",
		"open-cluster-management.io/api/addon/...",
		"open-cluster-management.io/ocm/pkg/addon/controllers/addondependency",
		"open-cluster-management.io/ocm/pkg/addon/index",
		"open-cluster-management.io/ocm/pkg/addon/webhook/...",
		"open-cluster-management.io/ocm/pkg/registration/spoke/addon")
	goTest(t, interlock, modfileOf(t, source, interlock, "api", "addon-framework"), "-vet=all",
		"open-cluster-management.io/addon-framework/pkg/addonmanager/controllers/agentdeploy")

	integration(t, source, modfile)
}

// integration runs the controller like OCM's addon-manager, on an API server.
func integration(t *testing.T, source *Patched, modfile string) {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Log("without KUBEBUILDER_ASSETS, the integration tests of the patches do not run")
		return
	}
	// OCM's suite takes the CRDs from its vendor folder, which a module does not have.
	vendored := filepath.Join(source.Module("ocm"), "vendor", "open-cluster-management.io")
	if err := os.MkdirAll(vendored, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(source.Module("api"), filepath.Join(vendored, "api")); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "integration.test")
	goTest(t, own, modfile, "-c", "-o", binary, "open-cluster-management.io/ocm/test/integration/addon")
	output, err := run(t.Context(), source.Module("ocm"), binary, "-ginkgo.no-color", "-ginkgo.focus=Addon dependencies")
	if ran := regexp.MustCompile(`Ran [1-9]\d* of \d+ Specs`).FindString(output); err != nil || ran == "" {
		t.Errorf("no specs were run, or they failed: %v\n%s", err, output)
	} else {
		t.Log(ran)
	}
}

func modfileOf(t *testing.T, source *Patched, folder string, names ...string) string {
	t.Helper()
	modfile, err := source.Modfile(t.Context(), folder, names...)
	if err != nil {
		t.Fatal(err)
	}
	return modfile
}

func goTest(t *testing.T, folder, modfile string, arguments ...string) {
	t.Helper()
	output, err := run(t.Context(), folder, "go", append([]string{"test", "-modfile=" + modfile}, arguments...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(output)
}

// OCM's maintainers get the patches as commits, with a message and a sign-off.
func TestPatchesAreReadyToSend(t *testing.T) {
	for name := range modules {
		files, err := patchesOf(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			patch := string(content)
			author := regexp.MustCompile(`(?m)^From: (.+)$`).FindStringSubmatch(patch)
			message, _, _ := strings.Cut(patch, "\n---\n")
			_, body, _ := strings.Cut(message, "\n\n")
			switch {
			case author == nil || !strings.HasSuffix(message, "\n\nSigned-off-by: "+author[1]):
				t.Errorf("%s: the last line of the message is not the author's sign-off", path)
			case !regexp.MustCompile(`(?m)^Subject: :(sparkles|bug|seedling|book|warning): `).MatchString(patch):
				t.Errorf("%s: the subject lacks the prefix that OCM's pull requests have", path)
			case strings.Count(body, "\n") < 4:
				t.Errorf("%s: the message does not explain the change", path)
			}
		}
	}
	// A folder without tests would look as if it were tested.
	entries, err := os.ReadDir(patches)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if _, tested := modules[entry.Name()]; !tested {
			t.Errorf("%s/%s is no folder of a module that is tested", patches, entry.Name())
		}
	}
}
