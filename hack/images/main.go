// Command images builds container images of Go programs without a container
// engine: one static binary each, from scratch, for several platforms, as an OCI
// layout and as an archive of it, with a bill of materials beside them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"open-cluster-management.io/interlock/hack/images/image"
	"open-cluster-management.io/interlock/hack/images/program"
)

const usage = `usage: images [flags] NAME=PACKAGE...

Builds an image of each Go package and writes, in the folder -out:

  NAME/        an OCI image layout: one index of an image per platform
  NAME.tar     the same layout as an archive: ctr images import, kind load image-archive,
               skopeo copy oci-archive:NAME.tar docker://...
  NAME_OS_ARCH.cdx.json
               the Go modules in the binary, as a CycloneDX bill of materials

The same source and flags give the same digests.

`

func main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	order, err := parse()
	if err != nil {
		fmt.Fprintf(os.Stderr, "images: %v\nSee 'images -help'.\n", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := order.run(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "images: %v\n", err)
		os.Exit(1)
	}
}

// order has the images to build, and the outputs to write.
type order struct {
	images []image.Image
	// out is the folder for all outputs.
	out string
	// push copies the images also to their repositories.
	push     bool
	insecure bool
}

func parse() (*order, error) {
	o := &order{}
	var common image.Image
	var created int64
	var platforms, prefix string
	var aliases []string
	flag.StringVar(&common.ModuleDir, "C", ".", "folder of the Go module that the packages belong to")
	flag.StringVar(&o.out, "out", "bin/images", "folder to write to")
	flag.StringVar(&platforms, "platforms", "linux/amd64,linux/arm64", "platforms to build for")
	flag.StringVar(&prefix, "repository-prefix", "localhost/", "what stands before NAME in the image's name")
	flag.StringVar(&common.Version, "version", "latest", "tag of the images, and their version label")
	flag.StringVar(&common.Revision, "revision", "", "commit of the source, for a label")
	flag.StringVar(&common.Source, "source", "", "address of the source, for a label")
	flag.Int64Var(&created, "created", 0, "time of creation, in seconds since 1970: that of the commit, not of the build")
	flag.StringVar(&common.LDFlags, "ldflags", "-s -w", "flags of Go's linker")
	flag.Func("alias", "one more NAME for the image; can be repeated", func(name string) error {
		aliases = append(aliases, name)
		return nil
	})
	flag.Func("link", "one more name for the program in the image, as a symbolic link; can be repeated", func(name string) error {
		common.Links = append(common.Links, name)
		return nil
	})
	flag.BoolVar(&common.Entrypoint, "entrypoint", true, "make the program the entrypoint; without it, pods name the program in their arguments")
	flag.BoolVar(&o.push, "push", false, "copy the images to their registry as well, with the credentials of docker login")
	flag.BoolVar(&o.insecure, "insecure", false, "let the registry be one without TLS")
	flag.Parse()
	common.Created = time.Unix(created, 0).UTC()
	for platform := range strings.SplitSeq(platforms, ",") {
		system, architecture, ok := strings.Cut(platform, "/")
		if !ok || system == "" || architecture == "" {
			return nil, fmt.Errorf("-platforms=%q: %q must be OS/ARCHITECTURE", platforms, platform)
		}
		common.Platforms = append(common.Platforms, program.Platform{System: system, Architecture: architecture})
	}
	if flag.NArg() == 0 {
		return nil, fmt.Errorf("name at least one image, as NAME=PACKAGE")
	}
	for _, argument := range flag.Args() {
		img := common
		var ok bool
		img.Name, img.Package, ok = strings.Cut(argument, "=")
		if !ok || img.Name == "" || img.Package == "" || img.Name != filepath.Base(img.Name) {
			return nil, fmt.Errorf("%q must be NAME=PACKAGE", argument)
		}
		img.Repository = prefix + img.Name
		for _, alias := range aliases {
			img.Aliases = append(img.Aliases, prefix+alias)
		}
		o.images = append(o.images, img)
	}
	return o, nil
}

func (o *order) run(ctx context.Context) error {
	for _, img := range o.images {
		if err := o.make(ctx, img); err != nil {
			return fmt.Errorf("image %s: %w", img.Name, err)
		}
	}
	return nil
}

func (o *order) make(ctx context.Context, img image.Image) error {
	built, err := img.Build(ctx)
	if err != nil {
		return err
	}
	if err := img.WriteLayout(o.out, built); err != nil {
		return err
	}
	digest, err := built.Index.Digest()
	if err != nil {
		return err
	}
	fmt.Printf("images: %s@%s\n", img.Reference(), digest)
	if o.push {
		return img.Push(ctx, built, o.insecure)
	}
	return nil
}
