package layout

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

const someType types.MediaType = "application/x-some"

// newLayout returns the index and the blobs of a layout with one manifest, a configuration and a layer.
func newLayout(t *testing.T) ([]v1.Descriptor, Blobs) {
	t.Helper()
	blobs := Blobs{}
	config, err := blobs.Add(someType, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	layer, err := blobs.Add(someType, []byte("content"))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := blobs.AddJSON(types.OCIManifestSchema1, v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: config, Layers: []v1.Descriptor{layer, layer},
	})
	if err != nil {
		t.Fatal(err)
	}
	return []v1.Descriptor{manifest}, blobs
}

func write(t *testing.T, index []v1.Descriptor, blobs Blobs) []byte {
	t.Helper()
	var archive bytes.Buffer
	if err := Write(&archive, index, blobs); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

func TestArchiveIsReadAsItWasWritten(t *testing.T) {
	index, blobs := newLayout(t)
	if _, err := blobs.Add(someType, []byte("nothing refers to this")); err != nil {
		t.Fatal(err)
	}
	archive := write(t, index, blobs)
	for range 10 {
		if !bytes.Equal(archive, write(t, index, blobs)) {
			t.Fatal("the same content gave other bytes")
		}
	}
	readIndex, readBlobs, err := Read(bytes.NewReader(archive), int64(len(archive)))
	if err != nil || len(readIndex) != 1 || len(readBlobs) != 3 {
		t.Fatalf("%d descriptors, %d blobs, %v", len(readIndex), len(readBlobs), err)
	}
	if !bytes.Equal(archive, write(t, readIndex, readBlobs)) {
		t.Error("it was read as something else")
	}
}

func TestWriteRefusesContentWithAnotherDigest(t *testing.T) {
	for name, content := range map[string]string{"other": "CONTENT", "shorter": "conten", "longer": "contents"} {
		index, blobs := newLayout(t)
		for digest, blob := range blobs {
			if blob.Size == int64(len("content")) {
				blob.Open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil }
				blobs[digest] = blob
			}
		}
		if err := Write(io.Discard, index, blobs); err == nil {
			t.Errorf("%s content was written", name)
		}
	}
}

// file is a file in an archive.
type file struct {
	header  tar.Header
	content string
}

func filesIn(t *testing.T, archive []byte) []file {
	t.Helper()
	var files []file
	for reader := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		content, readErr := io.ReadAll(reader)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		files = append(files, file{*header, string(content)})
	}
}

func archiveOf(t *testing.T, files []file) []byte {
	t.Helper()
	var archive bytes.Buffer
	writer := tar.NewWriter(&archive)
	for _, f := range files {
		if f.header.Typeflag == tar.TypeReg {
			f.header.Size = int64(len(f.content))
		}
		err := writer.WriteHeader(&f.header)
		if err == nil {
			_, err = io.WriteString(writer, f.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

func TestReadRefuses(t *testing.T) {
	emptyFile := func(name string, kind byte) file {
		return file{tar.Header{Name: name, Typeflag: kind, Mode: 0o644, Linkname: "/etc/passwd"}, ""}
	}
	indexOf := func(files []file, content string) int {
		for i := range files {
			if files[i].content == content {
				return i
			}
		}
		t.Fatalf("no file %q", content)
		return 0
	}
	for name, tt := range map[string]struct {
		change func(files []file) []file
		want   string
	}{
		"nothing": {func([]file) []file { return nil }, "it has no file oci-layout"},
		"another version": {func(files []file) []file {
			files[0].content = `{"imageLayoutVersion":"2.0.0"}`
			return files
		}, `oci-layout: must be {"imageLayoutVersion":"1.0.0"}`},
		"changed content": {func(files []file) []file {
			files[indexOf(files, "content")].content = "CONTENT"
			return files
		}, "its content was changed"},
		"a missing blob": {func(files []file) []file {
			i := indexOf(files, "content")
			return append(files[:i], files[i+1:]...)
		}, "is missing"},
		"a blob that nothing refers to": {func(files []file) []file {
			empty := emptyFile(blobsFolder+"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", tar.TypeReg)
			return append(files, empty)
		}, "nothing in the archive refers to this file"},
		"a file twice": {func(files []file) []file { return append(files, files[1]) }, `"index.json": it is there twice`},
		"another file": {func(files []file) []file { return append(files, emptyFile("README.md", tar.TypeReg)) }, "a package has no such file"},
		"a path that leads out": {
			func(files []file) []file { return append(files, emptyFile("../../etc/passwd", tar.TypeReg)) },
			"a package has no such file",
		},
		"an absolute path": {
			func(files []file) []file { return append(files, emptyFile("/etc/passwd", tar.TypeReg)) },
			"a package has no such file",
		},
		"a path below blobs": {
			func(files []file) []file { return append(files, emptyFile(blobsFolder+"../x", tar.TypeReg)) },
			"a package has no such file",
		},
		"a symbolic link": {
			func(files []file) []file { return append(files, emptyFile("index.json", tar.TypeSymlink)) },
			"a package has no such file",
		},
		"another folder": {func(files []file) []file { return append(files, emptyFile("other/", tar.TypeDir)) }, "a package has no such file"},
		"an index that is none": {func(files []file) []file {
			files[1].content = "[]"
			return files
		}, "index.json"},
		"a large index": {func(files []file) []file {
			files[1].content = strings.Repeat(" ", maxManifest+1)
			return files
		}, "index.json: it has more than"},
		"another size": {func(files []file) []file {
			files[1].content = strings.Replace(files[1].content, `"size":`, `"size":1`, 1)
			return files
		}, "and its manifest says"},
	} {
		t.Run(name, func(t *testing.T) {
			index, blobs := newLayout(t)
			archive := archiveOf(t, tt.change(filesIn(t, write(t, index, blobs))))
			if _, _, err := Read(bytes.NewReader(archive), int64(len(archive))); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestReadRefusesWhatIsNoWholeArchive(t *testing.T) {
	index, blobs := newLayout(t)
	archive := write(t, index, blobs)
	extended := append(bytes.Clone(archive), "more"...)
	_, _, err := Read(bytes.NewReader(extended), int64(len(extended)))
	if err == nil || !strings.Contains(err.Error(), "there is more behind the end") {
		t.Error(err)
	}
	for _, size := range []int{0, 100, 700, len(archive) / 2} {
		if _, _, err := Read(bytes.NewReader(archive), int64(size)); err == nil {
			t.Errorf("%d of %d bytes were accepted", size, len(archive))
		}
	}
	// A header that promises much more than there is takes neither memory nor time.
	var large bytes.Buffer
	if err := tar.NewWriter(&large).WriteHeader(&tar.Header{Name: "index.json", Typeflag: tar.TypeReg, Size: 1 << 60}); err != nil {
		t.Fatal(err)
	}
	_, _, err = Read(bytes.NewReader(large.Bytes()), int64(large.Len()))
	if err == nil || !strings.Contains(err.Error(), "the archive ends before it does") {
		t.Error(err)
	}
}

func TestLargeContentIsNotRead(t *testing.T) {
	blobs := Blobs{}
	large := v1.Descriptor{MediaType: someType, Size: MaxRead + 1, Digest: v1.Hash{Algorithm: "sha256", Hex: strings.Repeat("0", 64)}}
	blobs[large.Digest] = Blob{Size: large.Size, Open: func() (io.ReadCloser, error) { return nil, errors.New("it was opened") }}
	if _, err := blobs.Read(large); err == nil || !strings.Contains(err.Error(), "are refused") {
		t.Error(err)
	}
}

// Manifests that refer to each other in a chain are not followed for ever.
func TestChainsOfManifestsEnd(t *testing.T) {
	blobs := Blobs{}
	descriptor, err := blobs.Add(someType, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	for range maxDepth + 1 {
		index := v1.IndexManifest{SchemaVersion: 2, Manifests: []v1.Descriptor{descriptor}}
		if descriptor, err = blobs.AddJSON(types.OCIImageIndex, index); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write(io.Discard, []v1.Descriptor{descriptor}, blobs); err == nil || !strings.Contains(err.Error(), "too often") {
		t.Error(err)
	}
}
