package main

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user that the image runs as: a number, so that a kubelet can tell that it is
// not root, and one that no system's accounts use.
const user = "65532:65532"

type platformOf struct{ system, architecture string }

func (p platformOf) String() string { return p.system + "/" + p.architecture }

// image says what one image is to be made of.
type image struct {
	name string
	// entrypoint: a container runs the program unless its pod says otherwise.
	// Without it, the pod's arguments are the whole command.
	entrypoint bool
	// links are further names of the program in the image.
	links []string
	// aliases are further repositories of the image.
	aliases []string
	// pkg is the program's package, and moduleDir the folder of its module.
	pkg, moduleDir string
	repository     string
	platforms      []platformOf
	ldflags        string

	version, revision, source string
	created                   time.Time
}

func (i image) reference() string { return i.repository + ":" + i.version }

// references are all names of the image.
func (i image) references() []string {
	names := []string{i.reference()}
	for _, alias := range i.aliases {
		names = append(names, alias+":"+i.version)
	}
	return names
}

// labels are OCI's well-known ones, those that have a value.
func (i image) labels() map[string]string {
	labels := map[string]string{
		"org.opencontainers.image.title":   i.name,
		"org.opencontainers.image.version": i.version,
		"org.opencontainers.image.created": i.created.Format(time.RFC3339),
	}
	for name, value := range map[string]string{
		"org.opencontainers.image.revision": i.revision,
		"org.opencontainers.image.source":   i.source,
	} {
		if value != "" {
			labels[name] = value
		}
	}
	return labels
}

// built is an image for all of its platforms.
type built struct {
	index v1.ImageIndex
	// materials are bills of materials, by the platform.
	materials map[platformOf][]byte
}

func (i image) build(ctx context.Context) (*built, error) {
	folder, err := os.MkdirTemp("", "images-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	made := &built{
		index:     mutate.IndexMediaType(empty.Index, types.OCIImageIndex),
		materials: map[platformOf][]byte{},
	}
	for _, platform := range i.platforms {
		binary := filepath.Join(folder, platform.system+"-"+platform.architecture)
		if err := i.compile(ctx, platform, binary); err != nil {
			return nil, err
		}
		linked, err := linkedInto(ctx, i, binary)
		if err != nil {
			return nil, fmt.Errorf("for %s: %w", platform, err)
		}
		single, err := i.single(platform, binary, linked)
		if err != nil {
			return nil, fmt.Errorf("for %s: %w", platform, err)
		}
		if made.materials[platform], err = billOfMaterials(i, platform, linked); err != nil {
			return nil, fmt.Errorf("for %s: %w", platform, err)
		}
		made.index = mutate.AppendManifests(made.index, mutate.IndexAddendum{Add: single, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: platform.system, Architecture: platform.architecture},
		}})
	}
	return made, nil
}

// compile makes a static binary that is the same wherever and whenever it is made.
func (i image) compile(ctx context.Context, platform platformOf, binary string) error {
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", i.ldflags, "-o", binary, i.pkg)
	command.Dir = i.moduleDir
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+platform.system, "GOARCH="+platform.architecture)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s for %s: %w\n%s", i.pkg, platform, err, output)
	}
	return nil
}

// single is the image for one platform.
func (i image) single(platform platformOf, binary string, linked *modules) (v1.Image, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	files, err := i.files(content, licenseFiles(linked.licenses))
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	single, err := mutate.Append(base, mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: v1.Time{Time: i.created}, CreatedBy: "hack/images " + i.pkg},
	})
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(single, i.config(platform, single))
}

func (i image) config(platform platformOf, single v1.Image) *v1.ConfigFile {
	config := &v1.ConfigFile{}
	if present, err := single.ConfigFile(); err == nil {
		config = present.DeepCopy()
	}
	config.OS, config.Architecture = platform.system, platform.architecture
	config.Created = v1.Time{Time: i.created}
	config.Config = v1.Config{User: user, WorkingDir: "/", Labels: i.labels()}
	if i.entrypoint {
		config.Config.Entrypoint = []string{"/" + i.name}
	}
	return config
}

// files is the file system of the image, as a tar: the program, a folder for
// temporary files, which a pod whose root is read-only mounts a volume on, and
// the licences of what is linked into the program.
func (i image) files(program []byte, licenses map[string][]byte) ([]byte, error) {
	var buffer bytes.Buffer
	writer := tar.NewWriter(&buffer)
	type entry struct {
		header  tar.Header
		content []byte
	}
	entries := []entry{
		{tar.Header{Typeflag: tar.TypeReg, Name: i.name, Mode: int64(fs.FileMode(0o555))}, program},
		{tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}, nil},
	}
	for _, link := range i.links {
		entries = append(entries, entry{tar.Header{Typeflag: tar.TypeSymlink, Name: link, Linkname: i.name, Mode: 0o777}, nil})
	}
	for _, name := range slices.Sorted(maps.Keys(licenses)) {
		entries = append(entries, entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o444}, licenses[name]})
	}
	for _, file := range entries {
		file.header.Size = int64(len(file.content))
		file.header.ModTime = i.created
		file.header.Format = tar.FormatPAX
		if err := writer.WriteHeader(&file.header); err != nil {
			return nil, err
		}
		if _, err := writer.Write(file.content); err != nil {
			return nil, err
		}
	}
	err := writer.Close()
	return buffer.Bytes(), err
}
