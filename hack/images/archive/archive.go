// Package archive writes reproducible archives: the same files give the same bytes, on
// every machine and at every time.
package archive

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// File is an entry of an archive. If its name ends with a slash, it is a folder. If it has
// a Link, it is a symbolic link.
type File struct {
	Name    string
	Mode    fs.FileMode
	Content []byte
	Link    string
}

func (f File) header(modified time.Time) *tar.Header {
	header := &tar.Header{
		Typeflag: tar.TypeReg, Name: f.Name, Mode: int64(f.Mode), Size: int64(len(f.Content)),
		ModTime: modified, Format: tar.FormatPAX,
	}
	switch {
	case f.Link != "":
		header.Typeflag, header.Linkname = tar.TypeSymlink, f.Link
	case strings.HasSuffix(f.Name, "/"):
		header.Typeflag = tar.TypeDir
	}
	return header
}

// Tar writes the files in their order.
func Tar(out io.Writer, files []File, modified time.Time) error {
	writer := tar.NewWriter(out)
	for _, file := range files {
		if err := writer.WriteHeader(file.header(modified)); err != nil {
			return err
		}
		if _, err := writer.Write(file.Content); err != nil {
			return err
		}
	}
	return writer.Close()
}

// TarGz writes the files sorted by name. The header of gzip has neither a name nor
// a time.
func TarGz(out io.Writer, files []File, modified time.Time) error {
	compressed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(Tar(compressed, sorted(files), modified), compressed.Close())
}

// Zip writes the files sorted by name. It supports regular files only.
func Zip(out io.Writer, files []File, modified time.Time) error {
	writer := zip.NewWriter(out)
	for _, file := range sorted(files) {
		// In UTC: zip also stores the local time, without its zone.
		header := &zip.FileHeader{Name: file.Name, Method: zip.Deflate, Modified: modified.UTC()}
		header.SetMode(file.Mode)
		entry, err := writer.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(file.Content); err != nil {
			return err
		}
	}
	return writer.Close()
}

func sorted(files []File) []File {
	return slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Name, b.Name) })
}
