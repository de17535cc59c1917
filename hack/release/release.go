package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"open-cluster-management.io/interlock/hack/images/program"
)

// programs are the programs to compile: the folder of their module, the package of each
// program by its name, and the linker's flags for a version.
type programs struct {
	module   string
	packages map[string]string
	ldflags  func(version string) string
}

var interlock = programs{
	packages: map[string]string{manager: "./cmd/addon-manager", agent: "./cmd/addon-agent", plugin: "./cmd/kubectl-addon"},
	ldflags: func(version string) string {
		return "-s -w -X open-cluster-management.io/interlock/pkg/version.Version=" + version
	},
}

const (
	manager = "addon-manager"
	agent   = "addon-agent"
	plugin  = "kubectl-addon"
)

// order describes the release to build, and its outputs.
type order struct {
	programs                        programs
	imagePlatforms, pluginPlatforms []program.Platform

	// repository is the folder of Interlock's source, and out the folder to write to.
	repository, out string
	// version is the value of -version. tag is the version with a leading v, plain without it.
	version, tag, plain string
	imagePrefix, charts string
	source, downloads   string
	push                bool
	pushed              string
	insecure, strict    bool

	commit commit
}

func (o *order) run(ctx context.Context) error {
	if err := o.prepare(ctx); err != nil {
		return err
	}
	notes, err := o.notes()
	if err := errors.Join(err, o.checkInterlock()); err != nil {
		return err
	}
	// The old files are deleted only after all checks.
	if err := errors.Join(os.RemoveAll(o.out), os.MkdirAll(o.out, 0o755)); err != nil {
		return err
	}
	images, err := o.buildImages(ctx)
	if err != nil {
		return err
	}
	chart, err := o.packageChart(images)
	if err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return o.writeManifests(images) },
		func() error { return o.writePlugin(ctx) },
		func() error { return o.write("release-notes.md", notes+images.notes()) },
		func() error { return writeChecksums(o.out) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	fmt.Printf("release: %s of commit %s in %s\n", o.tag, o.commit.hash, o.out)
	if o.push {
		return o.pushAll(ctx, images, chart)
	}
	fmt.Printf("release: nothing is pushed; chart and manifests expect the images at %s\n", o.imagePrefix)
	return nil
}

// prepare completes the order, and returns an error if it is invalid.
func (o *order) prepare(ctx context.Context) error {
	var err error
	if o.tag, o.plain, err = versions(o.version); err != nil {
		return err
	}
	if o.imagePrefix == "" {
		return errors.New("-image-prefix is empty: set the prefix of the names of the images, before addon-manager")
	}
	o.charts = cmp.Or(o.charts, "oci://"+o.imagePrefix[:strings.LastIndex(o.imagePrefix, "/")+1]+"charts")
	if !strings.HasPrefix(o.charts, "oci://") || strings.HasPrefix(o.charts, "oci://charts") {
		return fmt.Errorf("-charts=%q must be oci://REGISTRY/FOLDER", o.charts)
	}
	if o.downloads == "" && o.source != "" {
		o.downloads = o.source + "/releases/download/" + o.tag
	}
	if o.repository, err = filepath.Abs(o.repository); err != nil {
		return err
	}
	if o.commit, err = commitOf(ctx, o.repository); err != nil {
		return err
	}
	if err := o.commit.publishable(o.tag); err != nil {
		if o.strict {
			return err
		}
		fmt.Printf("release: not for publication: %v\n", err)
	}
	return fixToolchain()
}

// fixToolchain removes settings from the environment that would change the compiled bytes.
func fixToolchain() error {
	var failed error
	for name, value := range map[string]string{
		// As in the Makefile, without debug information, so that its compiled packages are used again.
		"GOFLAGS": "-trimpath -gcflags=all=-dwarf=false",
		"GOAMD64": "v1", "GOARM64": "v8.0", "GOEXPERIMENT": "", "GOFIPS140": "off",
	} {
		failed = errors.Join(failed, os.Setenv(name, value))
	}
	return failed
}

// program returns the program with this name.
func (o *order) program(name string) program.Program {
	return program.Program{
		Name: name, Package: o.programs.packages[name], ModuleDir: cmp.Or(o.programs.module, o.repository),
		LDFlags: o.programs.ldflags(o.tag), Version: o.plain, Created: o.created(),
	}
}

func (o *order) created() time.Time { return o.commit.time }

func (o *order) write(name, content string) error {
	return os.WriteFile(filepath.Join(o.out, name), []byte(content), 0o644)
}
