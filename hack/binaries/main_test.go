package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAssetsOfTheUser(t *testing.T) {
	assetSet := set{assets: "ASSETS", source: "no such folder", packages: []string{"./one", "module/two"}, postBuildFolders: []string{"made"}}
	assetsWith := func(modeOfOne os.FileMode, two, made bool) string {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "one"), modeOfOne)
		if two {
			write(t, filepath.Join(dir, "two"), 0o755)
		}
		if made {
			if err := os.Mkdir(filepath.Join(dir, "made"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	madeIsFile := assetsWith(0o755, true, false)
	write(t, filepath.Join(madeIsFile, "made"), 0o755)

	tests := map[string]struct {
		assets string
		want   string
	}{
		"all there":         {assets: assetsWith(0o755, true, true)},
		"one missing":       {assets: assetsWith(0o755, false, true), want: "it has no two;"},
		"a folder missing":  {assets: assetsWith(0o755, true, false), want: "it has no made;"},
		"empty folder":      {assets: t.TempDir(), want: "it has no one and no two and no made;"},
		"no such folder":    {assets: filepath.Join(t.TempDir(), "nowhere"), want: "it has no one and no two and no made;"},
		"no executable one": {assets: assetsWith(0o644, true, true), want: "one in it is no executable file;"},
		"no folder":         {assets: madeIsFile, want: "made in it is no folder;"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			// The source does not exist, because a set with assets needs none.
			err := assetSet.run(t.TempDir(), tt.assets)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("unexpected error: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got error %v, want it to contain %q", err, tt.want)
			}
		})
	}
}

func TestUnknownSet(t *testing.T) {
	err := runSet(sets, "ocn", t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "control-plane, controller-manager, node, kubeadm") {
		t.Errorf("error does not list the sets: %v", err)
	}
}

func TestAnotherVersionOfKubernetesHasAFolderOfItsOwn(t *testing.T) {
	available, folder, err := withKubernetes("bin", "")
	if err != nil || folder != "bin" || len(available) != len(sets) {
		t.Errorf("without a version: %d sets in %s (%v)", len(available), folder, err)
	}
	for _, version := range []string{"1.34", "main", "v2.0.0", "1.34.4/../.."} {
		if _, _, err := withKubernetes(t.TempDir(), version); err == nil || !strings.Contains(err.Error(), "-kubernetes=") {
			t.Errorf("%q: error %v", version, err)
		}
	}
}

func TestFingerprint(t *testing.T) {
	source := t.TempDir()
	write(t, filepath.Join(source, "go.mod"), 0o644)
	first := fingerprintOf(t, set{source: source})

	write(t, filepath.Join(source, "README.md"), 0o644)
	if fingerprintOf(t, set{source: source}) != first {
		t.Error("a file that is not compiled requires a build")
	}
	if fingerprintOf(t, set{source: source, packages: []string{"./one"}}) == first {
		t.Error("another package requires no build")
	}
	write(t, filepath.Join(source, "main.go"), 0o644)
	if fingerprintOf(t, set{source: source}) == first {
		t.Error("a new source file requires no build")
	}
}

func fingerprintOf(t *testing.T, s set) string {
	t.Helper()
	sum, err := s.fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func write(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte("content\n"), mode); err != nil {
		t.Fatal(err)
	}
}
