// Package image makes container images of Go programs without a container engine: one
// static binary each, from scratch, for several platforms.
package image

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"open-cluster-management.io/interlock/hack/images/archive"
	"open-cluster-management.io/interlock/hack/images/program"
)

// user is the user and group that the image runs as. It is a number, so that a kubelet
// can check that it is not root, and no system has an account with this number.
const user = "65532:65532"

// Image describes an image to build: a program, and the metadata around it.
type Image struct {
	program.Program
	// Entrypoint makes the program the entrypoint, which a pod can override.
	// Without it, the pod's arguments are the whole command.
	Entrypoint bool
	// Links are additional names of the program in the image.
	Links []string
	// Repository is the name without the tag. Aliases are additional names.
	Repository string
	Aliases    []string
	Platforms  []program.Platform

	Revision, Source string
}

// Reference returns the name of the image, with its tag.
func (i Image) Reference() string { return i.Repository + ":" + i.Version }

// references returns all names of the image.
func (i Image) references() []string {
	names := []string{i.Reference()}
	for _, alias := range i.Aliases {
		names = append(names, alias+":"+i.Version)
	}
	return names
}

// labels returns OCI's well-known labels that have a value.
func (i Image) labels() map[string]string {
	labels := map[string]string{
		"org.opencontainers.image.title":   i.Name,
		"org.opencontainers.image.version": i.Version,
		"org.opencontainers.image.created": i.Created.Format(time.RFC3339),
	}
	for name, value := range map[string]string{
		"org.opencontainers.image.revision": i.Revision,
		"org.opencontainers.image.source":   i.Source,
	} {
		if value != "" {
			labels[name] = value
		}
	}
	return labels
}

// Built is an image for all of its platforms.
type Built struct {
	Index v1.ImageIndex
	// materials are bills of materials, by platform.
	materials map[program.Platform][]byte
}

// Build compiles the program for all platforms.
func (i Image) Build(ctx context.Context) (*Built, error) {
	result := &Built{
		Index:     mutate.IndexMediaType(empty.Index, types.OCIImageIndex),
		materials: map[program.Platform][]byte{},
	}
	for _, platform := range i.Platforms {
		binary, err := i.Program.Build(ctx, platform)
		if err != nil {
			return nil, err
		}
		single, err := i.single(binary)
		if err != nil {
			return nil, fmt.Errorf("for %s: %w", platform, err)
		}
		subject := cdx.Component{BOMRef: i.Name, Type: cdx.ComponentTypeContainer, Name: i.Repository, Version: i.Version}
		if result.materials[platform], err = binary.BillOfMaterials(subject); err != nil {
			return nil, fmt.Errorf("for %s: %w", platform, err)
		}
		result.Index = mutate.AppendManifests(result.Index, mutate.IndexAddendum{Add: single, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: platform.System, Architecture: platform.Architecture},
		}})
	}
	return result, nil
}

// single returns the image for one platform.
func (i Image) single(binary *program.Binary) (v1.Image, error) {
	var files bytes.Buffer
	if err := archive.Tar(&files, i.files(binary), i.Created); err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	single, err := mutate.Append(base, mutate.Addendum{
		Layer:   layer,
		History: v1.History{Created: v1.Time{Time: i.Created}, CreatedBy: "hack/images " + i.Package},
	})
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(single, i.config(binary.Platform, single))
}

func (i Image) config(platform program.Platform, single v1.Image) *v1.ConfigFile {
	config := &v1.ConfigFile{}
	if base, err := single.ConfigFile(); err == nil {
		config = base.DeepCopy()
	}
	config.OS, config.Architecture = platform.System, platform.Architecture
	config.Created = v1.Time{Time: i.Created}
	config.Config = v1.Config{User: user, WorkingDir: "/", Labels: i.labels()}
	if i.Entrypoint {
		config.Config.Entrypoint = []string{"/" + i.Name}
	}
	return config
}

// files returns the files of the image: the program, a folder for temporary files, and the
// licenses of all modules that are linked into the program. A pod with a read-only root
// mounts a volume on the folder.
func (i Image) files(binary *program.Binary) []archive.File {
	files := []archive.File{
		{Name: i.Name, Mode: 0o555, Content: binary.Content},
		{Name: "tmp/", Mode: 0o1777},
	}
	for _, link := range i.Links {
		files = append(files, archive.File{Name: link, Mode: 0o777, Link: i.Name})
	}
	return append(files, binary.Licenses()...)
}
