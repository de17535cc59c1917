package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"open-cluster-management.io/interlock/hack/images/image"
)

// builtImage is an image with the result of its build.
type builtImage struct {
	image.Image
	built  *image.Built
	digest string
}

// pinned returns the image's name with its digest.
func (b builtImage) pinned() string { return b.Reference() + "@" + b.digest }

type images []builtImage

func (o *order) buildImages(ctx context.Context) (images, error) {
	var builds images
	for _, name := range []string{manager, agent} {
		img := builtImage{Image: image.Image{
			Program: o.program(name), Entrypoint: true, Repository: o.imagePrefix + name, Platforms: o.imagePlatforms,
			Revision: o.commit.hash, Source: o.source,
		}}
		fmt.Printf("release: image %s\n", img.Reference())
		built, err := img.Build(ctx)
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", name, err)
		}
		digest, err := built.Index.Digest()
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", name, err)
		}
		img.built, img.digest = built, digest.String()
		if err := img.WriteLayout(o.out, built); err != nil {
			return nil, err
		}
		// The archive has the same content, and a release has no subfolders.
		if err := os.RemoveAll(filepath.Join(o.out, name)); err != nil {
			return nil, err
		}
		builds = append(builds, img)
	}
	return builds, nil
}

// notes returns the list of the images for the release notes.
func (i images) notes() string {
	var lines strings.Builder
	lines.WriteString("\n### Images\n\n")
	for _, img := range i {
		fmt.Fprintf(&lines, "- `%s`\n", img.pinned())
	}
	return lines.String()
}

// pushAll copies images and chart to their registry. It runs after all builds succeeded.
func (o *order) pushAll(ctx context.Context, images images, chart packagedChart) error {
	var pushed strings.Builder
	for _, img := range images {
		if err := img.Push(ctx, img.built, o.insecure); err != nil {
			return err
		}
		fmt.Fprintln(&pushed, img.pinned())
	}
	digest, err := chart.push(o.charts, o.created(), o.insecure)
	if err != nil {
		return err
	}
	fmt.Fprintf(&pushed, "%s@%s\n", strings.TrimPrefix(chart.reference(o.charts), "oci://"), digest)
	fmt.Print(pushed.String())
	if o.pushed == "" {
		return nil
	}
	return os.WriteFile(o.pushed, []byte(pushed.String()), 0o644)
}
