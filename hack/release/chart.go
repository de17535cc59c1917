package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/registry"
)

// annotation is what the names of the chart's annotations begin with. Its templates
// read them: where the images are, unless values say otherwise, and their digests.
const annotation = "interlock.open-cluster-management.io/"

// packaged is the chart in its archive.
type packaged struct {
	file, name, version string
}

func (p packaged) reference(charts string) string {
	return strings.TrimSuffix(charts, "/") + "/" + p.name + ":" + p.version
}

// loadChart loads the chart as it is in the repository.
func (o *order) loadChart() (*chartv2.Chart, error) {
	return loader.LoadDir(filepath.Join(o.repository, "deploy/charts/interlock"))
}

// checkInterlock refuses to publish a version that declarations cannot name: Interlock
// compares requirements.interlock with the version of the chart in the repository.
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

func (o *order) packageChart(images images) (packaged, error) {
	chart, err := o.loadChart()
	if err != nil {
		return packaged{}, err
	}
	chart.Metadata.Version, chart.Metadata.AppVersion = o.plain, o.plain
	chart.Metadata.Annotations = map[string]string{annotation + "image-prefix": o.imagePrefix}
	for _, one := range images {
		chart.Metadata.Annotations[annotation+one.Name+"-digest"] = one.digest
	}
	date(chart, o.created())
	file, err := util.Save(chart, o.out)
	if err != nil {
		return packaged{}, fmt.Errorf("package the chart: %w", err)
	}
	return packaged{file: file, name: chart.Name(), version: o.plain}, nil
}

// date gives all files of the chart one time, in place of those on this disk.
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

// loopback is a registry on this machine. Images are pushed to it without TLS, too.
var loopback = regexp.MustCompile(`^(localhost|127(\.[0-9]+){3})(:[0-9]+)?/`)

// push copies the chart to a repository and returns its digest there.
func (p packaged) push(charts string, created time.Time, insecure bool) (string, error) {
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

// registryClient is Helm's. It uses the credentials of docker login, too.
func registryClient(insecure bool) (*registry.Client, error) {
	options := []registry.ClientOption{registry.ClientOptWriter(io.Discard)}
	if insecure {
		options = append(options, registry.ClientOptPlainHTTP())
	}
	return registry.NewClient(options...)
}
