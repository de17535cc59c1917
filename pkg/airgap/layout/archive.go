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

// Files of a layout, and what its first one has.
const (
	versionFile = "oci-layout"
	indexFile   = "index.json"
	blobsFolder = "blobs/sha256/"
	version     = `{"imageLayoutVersion":"1.0.0"}`
	// maxFiles bounds what is remembered of an archive.
	maxFiles = 100_000
)

// Write writes an archive with an index, and with all that it leads to.
func Write(to io.Writer, index []v1.Descriptor, blobs Blobs) error {
	raw, err := json.Marshal(v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: index})
	if err != nil {
		return err
	}
	var all []v1.Descriptor
	if err := blobs.Walk(index, func(one v1.Descriptor) error {
		all = append(all, one)
		return nil
	}); err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b v1.Descriptor) int { return cmp.Compare(a.Digest.Hex, b.Digest.Hex) })
	archive := tar.NewWriter(to)
	for _, file := range [][2]string{{versionFile, version}, {indexFile, string(raw)}} {
		if err := writeFile(archive, file[0], int64(len(file[1])), strings.NewReader(file[1])); err != nil {
			return err
		}
	}
	for _, one := range all {
		if err := writeBlob(archive, one, blobs[one.Digest]); err != nil {
			return fmt.Errorf("%s: %w", one.Digest, err)
		}
	}
	return archive.Close()
}

func writeBlob(archive *tar.Writer, of v1.Descriptor, blob Blob) (err error) {
	content, err := blob.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	checked, err := check(content, of)
	if err != nil {
		return err
	}
	return writeFile(archive, blobsFolder+of.Digest.Hex, of.Size, checked)
}

func writeFile(archive *tar.Writer, name string, size int64, content io.Reader) error {
	// No time, owner or mode of this machine: the same content gives the same bytes.
	header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: time.Unix(0, 0)}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err := io.Copy(archive, content)
	return err
}

// Read reads an archive. It has an error unless each file is what its name says, and the index leads to each of them.
func Read(file io.ReaderAt, size int64) (index []v1.Descriptor, blobs Blobs, err error) {
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
	blobs, err = files.blobs()
	if err != nil {
		return nil, nil, err
	}
	reached := map[v1.Hash]bool{}
	if err := blobs.Walk(manifest.Manifests, func(one v1.Descriptor) error {
		reached[one.Digest] = true
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

// files are the sections of an archive, by name.
type files map[string]*io.SectionReader

func readFiles(file io.ReaderAt, size int64) (files, error) {
	whole := io.NewSectionReader(file, 0, size)
	found := files{}
	for archive := tar.NewReader(whole); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return found, onlyZeros(whole)
		}
		if err != nil {
			return nil, fmt.Errorf("it is no archive of a package: %w", err)
		}
		name := header.Name
		if header.Typeflag == tar.TypeDir && strings.HasPrefix(blobsFolder, name) {
			continue
		}
		// Contents are read from the file and not by the reader of archives, so that no header makes more of them than there is.
		start, err := whole.Seek(0, io.SeekCurrent)
		switch hex, isBlob := strings.CutPrefix(name, blobsFolder); {
		case err != nil:
			return nil, err
		case header.Typeflag != tar.TypeReg || name != versionFile && name != indexFile && (!isBlob || !isDigest(hex)):
			return nil, fmt.Errorf("%q: a package has no such file", text.Excerpt(name))
		case found[name] != nil:
			return nil, fmt.Errorf("%q: it is there twice", text.Excerpt(name))
		case header.Size > size-start:
			return nil, fmt.Errorf("%q: the archive ends before it does", text.Excerpt(name))
		case len(found) == maxFiles:
			return nil, fmt.Errorf("it has more than %d files", maxFiles)
		}
		found[name] = io.NewSectionReader(file, start, header.Size)
	}
}

// onlyZeros returns an error unless the rest of an archive is empty.
func onlyZeros(rest io.Reader) error {
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
		return "", fmt.Errorf("it is no archive of a package: it has no file %s", name)
	}
	if file.Size() > maxManifest {
		return "", fmt.Errorf("%s: it has more than %d bytes", name, maxManifest)
	}
	content, err := io.ReadAll(file)
	return string(content), err
}

// blobs compares each file with its name.
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
