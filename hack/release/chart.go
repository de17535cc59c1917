package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/registry"
)

// annotation is the prefix of the chart's annotations. They have the default prefix of the
// images and their digests, which the templates read.
const annotation = "interlock.open-cluster-management.io/"

// packagedChart is the chart in its archive.
type packagedChart struct {
	file, name, version string
}

func (p packagedChart) reference(charts string) string {
	return strings.TrimSuffix(charts, "/") + "/" + p.name + ":" + p.version
}

// loadChart loads the chart from the repository.
func (o *order) loadChart() (*chartv2.Chart, error) {
	return loader.LoadDir(filepath.Join(o.repository, "deploy/charts/interlock"))
}

// checkInterlock refuses to publish a version that declarations cannot require, because
// Interlock compares requirements.interlock with the version of the chart in the repository.
func (o *order) checkInterlock() error {
	if !o.strict {
		return nil
	}
	chart, err := o.loadChart()
	if err != nil {
		return err
	}
	if release, _, _ := strings.Cut(o.plain, "-"); chart.Metadata.AppVersion != release {
		return fmt.Errorf("deploy/charts/interlock/Chart.yaml has appVersion %s: set it, and Interlock in pkg/dependency/declaration/versions, to %s",
			chart.Metadata.AppVersion, release)
	}
	return nil
}

func (o *order) packageChart(images images) (packagedChart, error) {
	chart, err := o.loadChart()
	if err != nil {
		return packagedChart{}, err
	}
	chart.Metadata.Version, chart.Metadata.AppVersion = o.plain, o.plain
	annotations := maps.Clone(chart.Metadata.Annotations)
	annotations[annotation+"image-prefix"] = o.imagePrefix
	var list strings.Builder
	for _, img := range images {
		annotations[annotation+img.Name+"-digest"] = img.digest
		fmt.Fprintf(&list, "- name: %s\n  image: %s\n", img.Name, img.pinned())
	}
	annotations["artifacthub.io/images"] = list.String()
	annotations["artifacthub.io/prerelease"] = strconv.FormatBool(strings.Contains(o.plain, "-"))
	chart.Metadata.Annotations = annotations
	if o.source != "" {
		chart.Metadata.Home, chart.Metadata.Sources = o.source, []string{o.source}
	}
	date(chart, o.created())
	file, err := util.Save(chart, o.out)
	if err != nil {
		return packagedChart{}, fmt.Errorf("package the chart: %w", err)
	}
	return packagedChart{file: file, name: chart.Name(), version: o.plain}, nil
}

// date sets the time of all files of the chart, in place of their times on this disk.
func date(chart *chartv2.Chart, created time.Time) {
	chart.ModTime, chart.SchemaModTime = created, created
	for _, file := range chart.Raw {
		file.ModTime = created
	}
	for _, file := range chart.Templates {
		file.ModTime = created
	}
	for _, file := range chart.Files {
		file.ModTime = created
	}
}

// loopback matches a registry on this machine. It may have no TLS, for the chart as for images.
var loopback = regexp.MustCompile(`^(localhost|127(\.[0-9]+){3})(:[0-9]+)?/`)

// push copies the chart to a repository and returns its digest there.
func (p packagedChart) push(charts string, created time.Time, insecure bool) (string, error) {
	content, err := os.ReadFile(p.file)
	if err != nil {
		return "", err
	}
	reference := strings.TrimPrefix(p.reference(charts), "oci://")
	client, err := registryClient(insecure || loopback.MatchString(reference))
	if err != nil {
		return "", err
	}
	result, err := client.Push(content, reference, registry.PushOptCreationTime(created.Format(time.RFC3339)))
	if err != nil {
		return "", fmt.Errorf("push the chart to %s: %w", charts, err)
	}
	return result.Manifest.Digest, nil
}

// registryClient returns Helm's client. It also uses the credentials of docker login.
func registryClient(insecure bool) (*registry.Client, error) {
	options := []registry.ClientOption{registry.ClientOptWriter(io.Discard)}
	if insecure {
		options = append(options, registry.ClientOptPlainHTTP())
	}
	return registry.NewClient(options...)
}
