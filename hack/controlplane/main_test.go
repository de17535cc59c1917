package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAssetsOfTheUser(t *testing.T) {
	complete := t.TempDir()
	write(t, filepath.Join(complete, "kube-apiserver"), 0o755)
	write(t, filepath.Join(complete, "etcd"), 0o755)
	incomplete := t.TempDir()
	write(t, filepath.Join(incomplete, "etcd"), 0o755)
	notExecutable := t.TempDir()
	write(t, filepath.Join(notExecutable, "kube-apiserver"), 0o644)

	tests := map[string]struct {
		assets string
		want   string
	}{
		"both there":        {assets: complete},
		"one missing":       {assets: incomplete, want: "it has no kube-apiserver;"},
		"empty folder":      {assets: t.TempDir(), want: "it has no kube-apiserver and no etcd;"},
		"no such folder":    {assets: filepath.Join(complete, "nowhere"), want: "it has no kube-apiserver and no etcd;"},
		"no executable one": {assets: notExecutable, want: "kube-apiserver in it is no executable file;"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			// A source that does not exist: with assets given, none is needed.
			err := controlPlane.run(filepath.Join(bin, "nowhere"), bin, tt.assets)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("unexpected error: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got error %v, want it to contain %q", err, tt.want)
			}
		})
	}
}

func TestFingerprint(t *testing.T) {
	source := t.TempDir()
	write(t, filepath.Join(source, "go.mod"), 0o644)
	first := fingerprintOf(t, source)

	write(t, filepath.Join(source, "README.md"), 0o644)
	if fingerprintOf(t, source) != first {
		t.Error("a file that is not compiled asks for a build")
	}
	write(t, filepath.Join(source, "main.go"), 0o644)
	if fingerprintOf(t, source) == first {
		t.Error("a new source file asks for no build")
	}
}

func fingerprintOf(t *testing.T, source string) string {
	t.Helper()
	sum, err := fingerprint(source)
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
