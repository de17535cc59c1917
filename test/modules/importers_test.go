package modules

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Others import these packages, and inherit the modules that Go then lists. A new requirement has to be worth the modules
// that it brings: raise a number only for a reason. A lower one is a success, to be kept by writing it down.
func TestImportersInheritFewModules(t *testing.T) {
	for _, test := range []struct {
		name, module string
		packages     []string
		// modules is the number of lines of `go list -m all`, the importer among them. Before pkg/apis and pkg/author were
		// modules of their own, it was 150 for the types.
		modules int
	}{
		{"types", "pkg/apis", []string{"addon/v1alpha1", "addon/v1beta1", "dependency/v1alpha1"}, 86},
		// client-go alone brings 83.
		{"version of an agent", "pkg/author", []string{"addonversion"}, 116},
		// The packages below need the main module. controller-runtime alone brings 156.
		// Kustomize brings six: its kustomizations are read as lint reads them.
		{"tests of declarations", "pkg/author", []string{"declarationtest"}, 206},
		// addon-framework alone brings 200.
		{"add-on with dependencies", "pkg/author", []string{"dependent"}, 223},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := importer(t, test.module, test.packages)
			run(t, folder, "mod", "tidy")
			run(t, folder, "build", "./...")
			if inherited := strings.Count(run(t, folder, "list", "-m", "all"), "\n"); inherited != test.modules {
				t.Errorf("an importer of %q in %s has %d modules, want %d", test.packages, test.module, inherited, test.modules)
			}
		})
	}
}

// importer makes an otherwise empty module that imports packages of a module. Nothing is published yet, so it replaces the
// modules with those of this checkout.
func importer(t *testing.T, module string, packages []string) string {
	t.Helper()
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var goMod, code strings.Builder
	fmt.Fprintf(&goMod, "module example.com/importer\n\ngo 1.25.0\n\nrequire %s/%s v0.0.0\n", interlock, module)
	for _, own := range []string{"", "/pkg/apis", "/pkg/author"} {
		fmt.Fprintf(&goMod, "replace %s%s => %q\n", interlock, own, checkout+own)
	}
	code.WriteString("package importer\n")
	for _, name := range packages {
		fmt.Fprintf(&code, "import _ %q\n", interlock+"/"+module+"/"+name)
	}
	all(t) // so that a cached result counts only as long as no go.mod changes
	// Checksums that are known already need not be looked up.
	sums, err := os.ReadFile(filepath.Join(root, module, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, content := range map[string]string{"go.mod": goMod.String(), "go.sum": string(sums), "importer.go": code.String()} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func run(t *testing.T, folder string, arguments ...string) string {
	t.Helper()
	command := exec.Command("go", arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GOWORK=off")
	var stderr strings.Builder
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, stderr.String())
	}
	return string(output)
}
