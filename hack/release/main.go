// Command release builds all files that users of Interlock download: images, the Helm chart,
// manifests for kubectl, the kubectl plugin, bills of materials, checksums and notes.
// The same commit gives the same bytes.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"open-cluster-management.io/interlock/hack/images/program"
)

const usage = `usage: release -version vX.Y.Z [flags]

Writes, in the folder -out, in place of what was there:

  addon-manager.tar, addon-agent.tar
               the images of all platforms: each an OCI image layout in an archive
  interlock-X.Y.Z.tgz
               the Helm chart, with the names and digests of the images
  install.yaml, uninstall.yaml
               the same for kubectl
  kubectl-addon_OS_ARCH.tar.gz, .zip
               the kubectl plugin, and krew-addon.yaml to install it by krew
  *.cdx.json   bills of materials (CycloneDX)
  release-notes.md
               the version's section of CHANGELOG.md
  SHA256SUMS   checksums of all these files

`

func main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	o := &order{
		programs:        interlock,
		imagePlatforms:  platforms("linux/amd64", "linux/arm64"),
		pluginPlatforms: platforms("linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"),
	}
	selected := flag.String("platforms", "",
		"make images and plugin for these platforms only, such as linux/amd64,linux/arm64: for a try, not to publish")
	flag.StringVar(&o.repository, "C", ".", "folder of Interlock's repository")
	flag.StringVar(&o.out, "out", "bin/release", "folder to write to; what is in it is deleted")
	flag.StringVar(&o.version, "version", "", "the version, such as v0.1.0")
	flag.StringVar(&o.imagePrefix, "image-prefix", "", "prefix of the names of the images, before addon-manager and addon-agent")
	flag.StringVar(&o.charts, "charts", "", "repository of the chart, such as oci://registry.example.com/charts; "+
		"if empty, charts/ beside the images")
	flag.StringVar(&o.source, "source", "", "address of the source repository")
	flag.StringVar(&o.downloads, "download-url", "", "address of the folder that has these files later; "+
		"if empty, that of a GitHub release of -source")
	flag.BoolVar(&o.push, "push", false, "also push images and chart to their registry, with the credentials of docker login")
	flag.StringVar(&o.pushed, "pushed", "", "file to write the digests of what was pushed to, one a line")
	flag.BoolVar(&o.insecure, "insecure", false, "allow a registry without TLS")
	flag.BoolVar(&o.strict, "strict", false, "refuse what is not to be published: a commit without the version's tag, "+
		"changes that are not committed, and a version that CHANGELOG.md does not have")
	flag.Parse()
	if *selected != "" {
		o.imagePlatforms = platforms(strings.Split(*selected, ",")...)
		o.pluginPlatforms = o.imagePlatforms
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.run(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

func platforms(names ...string) []program.Platform {
	list := make([]program.Platform, 0, len(names))
	for _, name := range names {
		system, architecture, _ := strings.Cut(name, "/")
		list = append(list, program.Platform{System: system, Architecture: architecture})
	}
	return list
}
