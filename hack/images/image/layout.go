package image

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// WriteLayout writes the image to a folder and to an archive, with its bills of materials
// beside them. It replaces older files.
func (i Image) WriteLayout(out string, built *Built) error {
	folder := filepath.Join(out, i.Name)
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return err
	}
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return fmt.Errorf("write layout %s: %w", folder, err)
	}
	for _, reference := range i.references() {
		// OCI's annotation has the tag. containerd's own annotation has the whole name.
		if err := path.AppendIndex(built.Index, layout.WithAnnotations(map[string]string{
			"org.opencontainers.image.ref.name": i.Version,
			"io.containerd.image.name":          reference,
		})); err != nil {
			return fmt.Errorf("write layout %s: %w", folder, err)
		}
	}
	if err := writeArchive(folder, folder+".tar", i.Created); err != nil {
		return fmt.Errorf("write archive %s.tar: %w", folder, err)
	}
	for platform, content := range built.materials {
		if err := os.WriteFile(filepath.Join(out, i.materialsFile(platform)), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeArchive packs a folder. Files are in the order of their names, so that the same
// layout gives the same archive.
func writeArchive(folder, archive string, created time.Time) (err error) {
	file, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	writer := tar.NewWriter(file)
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		relative, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		header := &tar.Header{Name: filepath.ToSlash(relative), ModTime: created, Format: tar.FormatPAX}
		if entry.IsDir() {
			header.Typeflag, header.Name, header.Mode = tar.TypeDir, header.Name+"/", 0o755
			return writer.WriteHeader(header)
		}
		return addFile(writer, header, path)
	})
	return errors.Join(err, writer.Close())
}

func addFile(writer *tar.Writer, header *tar.Header, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	state, err := file.Stat()
	if err != nil {
		return err
	}
	header.Typeflag, header.Mode, header.Size = tar.TypeReg, 0o644, state.Size()
	if err := writer.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(writer, file)
	return err
}

// Push copies the image and its bills of materials to its registry, under all of its names.
func (i Image) Push(ctx context.Context, built *Built, insecure bool) error {
	var options []name.Option
	if insecure {
		options = append(options, name.Insecure)
	}
	access := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	for _, fullName := range i.references() {
		reference, err := name.NewTag(fullName, append(options, name.StrictValidation)...)
		if err != nil {
			return fmt.Errorf("%s is no name of an image in a registry (set -repository-prefix): %w", fullName, err)
		}
		if strings.HasPrefix(fullName, "localhost/") {
			return fmt.Errorf("%s is no registry: set -repository-prefix", fullName)
		}
		if err := remote.WriteIndex(reference, built.Index, access...); err != nil {
			return fmt.Errorf("push %s: %w", reference, err)
		}
		if err := i.attachMaterials(reference.Context(), built, access...); err != nil {
			return fmt.Errorf("%s: %w", reference, err)
		}
		fmt.Printf("images: pushed %s\n", reference)
	}
	return nil
}
