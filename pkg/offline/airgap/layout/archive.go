package layout

import (
	"archive/tar"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"open-cluster-management.io/interlock/pkg/text"
)

// Files of a layout, and the content of versionFile.
const (
	versionFile = "oci-layout"
	indexFile   = "index.json"
	blobsFolder = "blobs/sha256/"
	version     = `{"imageLayoutVersion":"1.0.0"}`
	// maxFiles is the maximum number of files in an archive. It limits the memory of Read.
	maxFiles = 100_000
)

// Write writes an archive with an index, and with all blobs that it refers to, directly or not.
func Write(writer io.Writer, index []v1.Descriptor, blobs Blobs) error {
	raw, err := json.Marshal(v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: index})
	if err != nil {
		return err
	}
	var descriptors []v1.Descriptor
	if err := blobs.Walk(index, func(descriptor v1.Descriptor) error {
		descriptors = append(descriptors, descriptor)
		return nil
	}); err != nil {
		return err
	}
	slices.SortFunc(descriptors, func(a, b v1.Descriptor) int { return cmp.Compare(a.Digest.Hex, b.Digest.Hex) })
	archive := tar.NewWriter(writer)
	for _, file := range [][2]string{{versionFile, version}, {indexFile, string(raw)}} {
		if err := writeFile(archive, file[0], int64(len(file[1])), strings.NewReader(file[1])); err != nil {
			return err
		}
	}
	for _, descriptor := range descriptors {
		if err := writeBlob(archive, descriptor, blobs[descriptor.Digest]); err != nil {
			return fmt.Errorf("%s: %w", descriptor.Digest, err)
		}
	}
	return archive.Close()
}

func writeBlob(archive *tar.Writer, descriptor v1.Descriptor, blob Blob) (err error) {
	content, err := blob.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	checked, err := check(content, descriptor)
	if err != nil {
		return err
	}
	return writeFile(archive, blobsFolder+descriptor.Digest.Hex, descriptor.Size, checked)
}

func writeFile(archive *tar.Writer, name string, size int64, content io.Reader) error {
	// Without the time, owner and mode of this machine, the same content gives the same bytes.
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: time.Unix(0, 0)}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(archive, content)
	return err
}

// Read reads the index and the blobs of an archive. It refuses blobs that differ from the digests in their names, and files that
// the index does not refer to.
func Read(file io.ReaderAt, size int64) ([]v1.Descriptor, Blobs, error) {
	files, err := readFiles(file, size)
	if err != nil {
		return nil, nil, err
	}
	if content, err := files.text(versionFile); err != nil || strings.Join(strings.Fields(content), "") != version {
		return nil, nil, cmp.Or(err, fmt.Errorf("%s: must be %s", versionFile, version))
	}
	content, err := files.text(indexFile)
	if err != nil {
		return nil, nil, err
	}
	manifest, err := v1.ParseIndexManifest(strings.NewReader(content))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", indexFile, err)
	}
	blobs, err := files.blobs()
	if err != nil {
		return nil, nil, err
	}
	reached := map[v1.Hash]bool{}
	if err := blobs.Walk(manifest.Manifests, func(descriptor v1.Descriptor) error {
		reached[descriptor.Digest] = true
		return nil
	}); err != nil {
		return nil, nil, err
	}
	for digest := range blobs {
		if !reached[digest] {
			return nil, nil, fmt.Errorf("%s%s: nothing in the archive refers to this file", blobsFolder, digest.Hex)
		}
	}
	return manifest.Manifests, blobs, nil
}

// files has the sections of an archive by the names of their files.
type files map[string]*io.SectionReader

func readFiles(file io.ReaderAt, size int64) (files, error) {
	whole := io.NewSectionReader(file, 0, size)
	sections := files{}
	for archive := tar.NewReader(whole); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return sections, checkZeros(whole)
		}
		if err != nil {
			return nil, fmt.Errorf("it is no archive of a package, which kubectl addon package writes: %w", err)
		}
		name := header.Name
		if header.Typeflag == tar.TypeDir && strings.HasPrefix(blobsFolder, name) {
			continue
		}
		// Content is read from the file, and not by the tar reader. So a header cannot promise more content than the file has.
		start, err := whole.Seek(0, io.SeekCurrent)
		switch hex, isBlob := strings.CutPrefix(name, blobsFolder); {
		case err != nil:
			return nil, err
		case header.Typeflag != tar.TypeReg || name != versionFile && name != indexFile && (!isBlob || !isDigest(hex)):
			return nil, fmt.Errorf("%q: a package has no such file", text.Excerpt(name))
		case sections[name] != nil:
			return nil, fmt.Errorf("%q: it is there twice", text.Excerpt(name))
		case header.Size > size-start:
			return nil, fmt.Errorf("%q: the archive ends before it does", text.Excerpt(name))
		case len(sections) == maxFiles:
			return nil, fmt.Errorf("it has more than %d files", maxFiles)
		}
		sections[name] = io.NewSectionReader(file, start, header.Size)
	}
}

// checkZeros returns an error unless the rest of an archive has only zero bytes.
func checkZeros(rest io.Reader) error {
	buffer := make([]byte, 4096)
	for {
		n, err := rest.Read(buffer)
		if len(bytes.Trim(buffer[:n], "\x00")) > 0 {
			return errors.New("there is more behind the end of the archive")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func isDigest(hex string) bool {
	_, err := v1.NewHash("sha256:" + hex)
	return err == nil && strings.ToLower(hex) == hex
}

func (f files) text(name string) (string, error) {
	file := f[name]
	if file == nil {
		return "", fmt.Errorf("it is no archive of a package, which kubectl addon package writes: it has no file %s", name)
	}
	if file.Size() > maxManifest {
		return "", fmt.Errorf("%s: it has more than %d bytes", name, maxManifest)
	}
	content, err := io.ReadAll(file)
	return string(content), err
}

// blobs returns the blobs in the files. It compares the content of each blob with the digest in its name.
func (f files) blobs() (Blobs, error) {
	blobs := Blobs{}
	for name, file := range f {
		hex, isBlob := strings.CutPrefix(name, blobsFolder)
		if !isBlob {
			continue
		}
		digest, _, err := v1.SHA256(io.NewSectionReader(file, 0, file.Size()))
		if err != nil {
			return nil, err
		}
		if digest.Hex != hex {
			return nil, fmt.Errorf("%s: its content was changed: it has digest %s", name, digest)
		}
		blobs[digest] = Blob{Size: file.Size(), Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.NewSectionReader(file, 0, file.Size())), nil
		}}
	}
	return blobs, nil
}
