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

// order is what one call is to make.
type order struct {
	images []image
	// out is the folder that takes it all.
	out string
	// push copies the images to their repositories, too.
	push     bool
	insecure bool
}

func parse() (*order, error) {
	o := &order{}
	var common image
	var created int64
	var platforms, prefix string
	var aliases []string
	flag.StringVar(&common.moduleDir, "C", ".", "folder of the Go module that the packages belong to")
	flag.StringVar(&o.out, "out", "bin/images", "folder to write to")
	flag.StringVar(&platforms, "platforms", "linux/amd64,linux/arm64", "platforms to build for")
	flag.StringVar(&prefix, "repository-prefix", "localhost/", "what stands before NAME in the image's name")
	flag.StringVar(&common.version, "version", "latest", "tag of the images, and their version label")
	flag.StringVar(&common.revision, "revision", "", "commit of the source, for a label")
	flag.StringVar(&common.source, "source", "", "address of the source, for a label")
	flag.Int64Var(&created, "created", 0, "time of creation, in seconds since 1970: that of the commit, not of the build")
	flag.StringVar(&common.ldflags, "ldflags", "-s -w", "flags of Go's linker")
	flag.Func("alias", "one more NAME for the image; can be repeated", func(name string) error {
		aliases = append(aliases, name)
		return nil
	})
	flag.Func("link", "one more name for the program in the image, as a symbolic link; can be repeated", func(name string) error {
		common.links = append(common.links, name)
		return nil
	})
	flag.BoolVar(&common.entrypoint, "entrypoint", true, "make the program the entrypoint; without it, pods name the program in their arguments")
	flag.BoolVar(&o.push, "push", false, "copy the images to their registry as well, with the credentials of docker login")
	flag.BoolVar(&o.insecure, "insecure", false, "let the registry be one without TLS")
	flag.Parse()
	common.created = time.Unix(created, 0).UTC()
	for platform := range strings.SplitSeq(platforms, ",") {
		system, architecture, ok := strings.Cut(platform, "/")
		if !ok || system == "" || architecture == "" {
			return nil, fmt.Errorf("-platforms=%q: %q must be OS/ARCHITECTURE", platforms, platform)
		}
		common.platforms = append(common.platforms, platformOf{system, architecture})
	}
	if flag.NArg() == 0 {
		return nil, fmt.Errorf("name at least one image, as NAME=PACKAGE")
	}
	for _, argument := range flag.Args() {
		one := common
		var ok bool
		if one.name, one.pkg, ok = strings.Cut(argument, "="); !ok || one.name == "" || one.pkg == "" || one.name != filepath.Base(one.name) {
			return nil, fmt.Errorf("%q must be NAME=PACKAGE", argument)
		}
		one.repository = prefix + one.name
		for _, alias := range aliases {
			one.aliases = append(one.aliases, prefix+alias)
		}
		o.images = append(o.images, one)
	}
	return o, nil
}

func (o *order) run(ctx context.Context) error {
	for _, one := range o.images {
		if err := o.make(ctx, one); err != nil {
			return fmt.Errorf("image %s: %w", one.name, err)
		}
	}
	return nil
}

func (o *order) make(ctx context.Context, one image) error {
	built, err := one.build(ctx)
	if err != nil {
		return err
	}
	if err := writeLayout(o.out, one, built); err != nil {
		return err
	}
	digest, err := built.index.Digest()
	if err != nil {
		return err
	}
	fmt.Printf("images: %s@%s\n", one.reference(), digest)
	if o.push {
		return push(ctx, one, built, o.insecure)
	}
	return nil
}
