package console_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVendoredPackagesAreAsPublished compares the vendored files with their recorded hashes, and finds files without one.
func TestVendoredPackagesAreAsPublished(t *testing.T) {
	const folder = "app/vendored"
	raw, err := os.ReadFile(filepath.Join(folder, "packages.json"))
	if err != nil {
		t.Fatal(err)
	}
	var packages []struct {
		Name, Version, License, Integrity string
		Files                             map[string]struct{ From, SHA256 string }
	}
	if err := json.Unmarshal(raw, &packages); err != nil {
		t.Fatal(err)
	}
	recorded := map[string]string{"packages.json": "", "README.md": ""}
	for _, vendored := range packages {
		if vendored.License != "MIT" || vendored.Version == "" || !strings.HasPrefix(vendored.Integrity, "sha512-") {
			t.Errorf("%+v", vendored)
		}
		hasLicense := false
		for name, file := range vendored.Files {
			recorded[name] = file.SHA256
			hasLicense = hasLicense || filepath.Base(name) == "LICENSE"
		}
		if !hasLicense {
			t.Errorf("%s has no license", vendored.Name)
		}
	}
	err = fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		want, ok := recorded[path]
		content, err := os.ReadFile(filepath.Join(folder, path))
		hash := sha256.Sum256(content)
		if !ok || want != "" && want != hex.EncodeToString(hash[:]) {
			t.Errorf("%s is not as recorded", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
