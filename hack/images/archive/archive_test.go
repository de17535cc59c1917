package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

var commit = time.Unix(1_700_000_000, 0).UTC()

var files = []File{
	{Name: "kubectl-addon", Mode: 0o755, Content: []byte("program")},
	{Name: "LICENSE", Mode: 0o644, Content: []byte("text")},
}

var writers = map[string]func(io.Writer, []File, time.Time) error{"tar.gz": TarGz, "zip": Zip}

func archiveOf(t *testing.T, kind string, files []File, modified time.Time) []byte {
	t.Helper()
	var buffer bytes.Buffer
	if err := writers[kind](&buffer, files, modified); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// The order of the files and the time zone do not matter.
func TestTheSameFilesGiveTheSameBytes(t *testing.T) {
	reversed := slices.Clone(files)
	slices.Reverse(reversed)
	for kind := range writers {
		first := archiveOf(t, kind, files, commit)
		second := archiveOf(t, kind, reversed, commit.In(time.FixedZone("east", 9*60*60)))
		if !bytes.Equal(first, second) {
			t.Errorf("%s: other bytes the second time", kind)
		}
		if bytes.Equal(first, archiveOf(t, kind, files, commit.Add(time.Minute))) {
			t.Errorf("%s: the time of the commit is not in the archive", kind)
		}
	}
}

const wantEntries = "LICENSE -rw-r--r-- 1700000000 text, kubectl-addon -rwxr-xr-x 1700000000 program"

func TestATarGzHasTheFiles(t *testing.T) {
	compressed, err := gzip.NewReader(bytes.NewReader(archiveOf(t, "tar.gz", files, commit)))
	if err != nil {
		t.Fatal(err)
	}
	if compressed.Name != "" || !compressed.ModTime.IsZero() {
		t.Errorf("the header of gzip has %q and %s", compressed.Name, compressed.ModTime)
	}
	var entries []string
	for reader := tar.NewReader(compressed); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		content, readErr := io.ReadAll(reader)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, fmt.Sprintf("%s %s %d %s", header.Name, header.FileInfo().Mode(), header.ModTime.Unix(), content))
	}
	if got := strings.Join(entries, ", "); got != wantEntries {
		t.Errorf("%s, want %s", got, wantEntries)
	}
}

func TestAZipHasTheFiles(t *testing.T) {
	content := archiveOf(t, "zip", files, commit)
	reader, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	var entries []string
	for _, entry := range reader.File {
		file, err := entry.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(file)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, fmt.Sprintf("%s %s %d %s", entry.Name, entry.Mode(), entry.Modified.Unix(), content))
	}
	if got := strings.Join(entries, ", "); got != wantEntries {
		t.Errorf("%s, want %s", got, wantEntries)
	}
}

func TestATarHasFoldersAndLinks(t *testing.T) {
	var buffer bytes.Buffer
	if err := Tar(&buffer, []File{{Name: "tmp/", Mode: 0o1777}, {Name: "greet", Mode: 0o777, Link: "hello"}}, commit); err != nil {
		t.Fatal(err)
	}
	reader := tar.NewReader(&buffer)
	folder, folderErr := reader.Next()
	link, linkErr := reader.Next()
	if err := errors.Join(folderErr, linkErr); err != nil {
		t.Fatal(err)
	}
	if folder.Typeflag != tar.TypeDir || folder.Mode != 0o1777 || link.Typeflag != tar.TypeSymlink || link.Linkname != "hello" {
		t.Errorf("%+v, %+v", folder, link)
	}
}
