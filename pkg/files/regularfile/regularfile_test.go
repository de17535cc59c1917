package regularfile

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestCheck(t *testing.T) {
	folder := t.TempDir()
	file, pipe := filepath.Join(folder, "file"), filepath.Join(folder, "pipe")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		file: "", folder: "is a directory", pipe: "is no regular file", file + "-none": "there is no file or folder",
	} {
		opened, err := Open(path)
		if want == "" && err == nil {
			_ = opened.Close() // it was only read
			continue
		}
		if err == nil || want == "" || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}

// TestReadAllReadsOpenPipe tests an open pipe, such as the <(…) of a shell.
func TestReadAllReadsOpenPipe(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	if err := Check("/dev/fd/" + strconv.FormatUint(uint64(read.Fd()), 10)); err != nil {
		t.Error(err)
	}
}
