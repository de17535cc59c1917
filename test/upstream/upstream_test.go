package upstream

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The packages with changes, and those whose tests show their effect.
var touched = []string{
	"open-cluster-management.io/api/addon/...",
	"open-cluster-management.io/ocm/pkg/addon/controllers/addondependency",
	"open-cluster-management.io/ocm/pkg/addon/index",
	"open-cluster-management.io/ocm/pkg/addon/webhook/...",
	"open-cluster-management.io/ocm/pkg/registration/spoke/addon",
}

// The patches apply to the versions of OCM in go.mod; what they touch builds, and passes go vet, OCM's tests and those of
// the patches.
func TestPatchedOCM(t *testing.T) {
	source := newPatched(t)
	sameDeclaration(t, source)

	t.Log(source.goTest(t, append([]string{"-vet=all"}, touched...)...))

	// The controller as addon-manager runs it, on an API server.
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Log("without KUBEBUILDER_ASSETS, the integration tests of the patches do not run")
		return
	}
	// OCM's suite takes the CRDs from its vendor folder, which a module does not have.
	vendored := filepath.Join(source.module("ocm"), "vendor", "open-cluster-management.io")
	if err := os.MkdirAll(vendored, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(source.module("api"), filepath.Join(vendored, "api")); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(source.folder, "integration.test")
	source.goTest(t, "-c", "-o", binary, "open-cluster-management.io/ocm/test/integration/addon")
	output := run(t, source.module("ocm"), binary, "-ginkgo.no-color", "-ginkgo.focus=Addon dependencies")
	if !regexp.MustCompile(`Ran [1-9]\d* of \d+ Specs`).MatchString(output) {
		t.Errorf("no specs were run:\n%s", output)
	}
}

// OCM's maintainers get the patches by mail or as commits, with a message and a sign-off.
func TestPatchesAreReadyToSend(t *testing.T) {
	for _, module := range modules(t) {
		for _, path := range patchesOf(t, module) {
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
			case !regexp.MustCompile(`(?m)^Subject: \[PATCH.*\] :(sparkles|bug|seedling|book|warning): `).MatchString(patch):
				t.Errorf("%s: the subject lacks the prefix that OCM's pull requests have", path)
			case strings.Count(body, "\n") < 4:
				t.Errorf("%s: the message does not explain the change", path)
			}
		}
	}
}
