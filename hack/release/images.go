package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"open-cluster-management.io/interlock/hack/images/image"
)

// made is an image that was built.
type made struct {
	image.Image
	built  *image.Built
	digest string
}

// pinned is the image's name with its digest.
func (m made) pinned() string { return m.Reference() + "@" + m.digest }

type images []made

func (o *order) buildImages(ctx context.Context) (images, error) {
	var all images
	for _, name := range []string{manager, agent} {
		one := made{Image: image.Image{
			Program: o.program(name), Entrypoint: true, Repository: o.imagePrefix + name, Platforms: o.imagePlatforms,
			Revision: o.commit.hash, Source: o.source,
		}}
		fmt.Printf("release: image %s\n", one.Reference())
		built, err := one.Build(ctx)
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", name, err)
		}
		digest, err := built.Index.Digest()
		if err != nil {
			return nil, fmt.Errorf("image %s: %w", name, err)
		}
		one.built, one.digest = built, digest.String()
		if err := one.WriteLayout(o.out, built); err != nil {
			return nil, err
		}
		// The archive has the same; a release is one folder of files.
		if err := os.RemoveAll(filepath.Join(o.out, name)); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// notes lists the images, for the release notes.
func (i images) notes() string {
	var lines strings.Builder
	lines.WriteString("\n### Images\n\n")
	for _, one := range i {
		fmt.Fprintf(&lines, "- `%s`\n", one.pinned())
	}
	return lines.String()
}

// pushAll copies images and chart to their registry, after everything could be made.
func (o *order) pushAll(ctx context.Context, images images, chart packaged) error {
	var pushed strings.Builder
	for _, one := range images {
		if err := one.Push(ctx, one.built, o.insecure); err != nil {
			return err
		}
		fmt.Fprintln(&pushed, one.pinned())
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
