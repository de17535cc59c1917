package hubrelease

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	containerregistry "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"

	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
	"open-cluster-management.io/interlock/pkg/offline/airgap/registry"
)

const chartFolder = "../../../deploy/charts/interlock"

var loopback = registry.Client{Insecure: true}

// image writes an archive with an image, and returns its descriptor.
func image(t *testing.T, path, title, version string) v1.Descriptor {
	t.Helper()
	blobs := layout.Blobs{}
	config, err := blobs.Add(types.OCIConfigJSON, []byte(`{"name":"`+title+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	content := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: config}
	manifest, err := blobs.AddJSON(types.OCIManifestSchema1, content)
	if err != nil {
		t.Fatal(err)
	}
	if version != "" {
		manifest.Annotations = map[string]string{"org.opencontainers.image.ref.name": version}
	}
	var archive bytes.Buffer
	if err := layout.Write(&archive, []v1.Descriptor{manifest}, blobs); err != nil {
		t.Fatal(err)
	}
	write(t, path, archive.Bytes())
	return manifest
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// release writes a release, with the images of a registry in its chart.
func release(t *testing.T, prefix string) string {
	t.Helper()
	folder := t.TempDir()
	chart, err := loader.LoadDir(chartFolder)
	if err != nil {
		t.Fatal(err)
	}
	chart.Metadata.Version, chart.Metadata.AppVersion = "1.2.3", "1.2.3"
	chart.Metadata.Annotations = map[string]string{prefixAnnotation: prefix}
	for _, program := range Programs {
		digest := image(t, filepath.Join(folder, program+".tar"), program, "1.2.3").Digest
		chart.Metadata.Annotations[fmt.Sprintf(digestAnnotation, program)] = digest.String()
	}
	if _, err := util.Save(chart, folder); err != nil {
		t.Fatal(err)
	}
	sum(t, folder)
	return folder
}

func sum(t *testing.T, folder string) {
	t.Helper()
	var sums strings.Builder
	files, err := filepath.Glob(filepath.Join(folder, "*.t*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), filepath.Base(file))
	}
	write(t, filepath.Join(folder, checksumsFile), []byte(sums.String()))
}

func imagesOf(t *testing.T, r *Release) ([]Image, error) {
	t.Helper()
	images, done, err := r.Images(t.Context(), loopback)
	if err == nil {
		t.Cleanup(func() {
			if err := done(); err != nil {
				t.Error(err)
			}
		})
	}
	return images, err
}

func TestFolderHasTheWholeRelease(t *testing.T) {
	folder := release(t, "registry.test/interlock-")
	for _, path := range []string{folder, filepath.Join(folder, "interlock-1.2.3.tgz")} {
		opened, err := Open(t.Context(), loopback, path, "")
		if err != nil || opened.Version() != "1.2.3" || !opened.HasImages() || !opened.IsPublished() {
			t.Fatalf("%s: %+v, %v", path, opened, err)
		}
		images, err := imagesOf(t, opened)
		if err != nil || len(images) != 2 || images[0].Program != "addon-manager" || images[1].Tag != "1.2.3" {
			t.Errorf("%s: %+v, %v", path, images, err)
		}
		// What is stored on the hub gives the same chart.
		stored, err := ReadChart(opened.Archive)
		if err != nil || stored.Metadata.Version != "1.2.3" {
			t.Errorf("%+v, %v", stored, err)
		}
	}
}

func TestCheckoutHasAChartWithoutImages(t *testing.T) {
	opened, err := Open(t.Context(), loopback, chartFolder, "")
	if err != nil || opened.HasImages() || opened.IsPublished() {
		t.Fatalf("%+v, %v", opened, err)
	}
	if _, err := imagesOf(t, opened); err == nil || !strings.Contains(err.Error(), "--images") {
		t.Errorf("%v", err)
	}
	built := t.TempDir()
	for _, program := range Programs {
		image(t, filepath.Join(built, program+".tar"), program, "abc1234")
	}
	if opened, err = Open(t.Context(), loopback, chartFolder, built); err != nil {
		t.Fatal(err)
	}
	images, err := imagesOf(t, opened)
	if err != nil || images[0].Tag != "abc1234" {
		t.Errorf("%+v, %v", images, err)
	}
}

func TestWrongFilesAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		change func(folder string)
		want   string
	}{
		"a changed chart": {func(folder string) {
			write(t, filepath.Join(folder, "interlock-1.2.3.tgz"), []byte("other"))
		}, "its content was changed"},
		"a changed image": {
			func(folder string) { image(t, filepath.Join(folder, "addon-agent.tar"), "other", "1.2.3") },
			"its content was changed",
		},
		"an image of another release": {func(folder string) {
			image(t, filepath.Join(folder, "addon-agent.tar"), "other", "1.2.3")
			sum(t, folder)
		}, "chart and images are of different releases"},
		"no checksum": {func(folder string) {
			write(t, filepath.Join(folder, checksumsFile), []byte("00  other.tgz\n"))
		}, "SHA256SUMS does not name interlock-1.2.3.tgz"},
		"no checksums": {
			func(folder string) { write(t, filepath.Join(folder, checksumsFile), []byte("nonsense\n")) }, `"nonsense" is no line`,
		},
		"two charts": {
			func(folder string) { write(t, filepath.Join(folder, "interlock-2.0.0.tgz"), nil) },
			"it has 2 files interlock-VERSION.tgz",
		},
		"no chart": {func(folder string) {
			write(t, filepath.Join(folder, "interlock-1.2.3.tgz"), []byte("other"))
			sum(t, folder)
		}, "it is no chart"},
		"two images": {func(folder string) {
			var archive bytes.Buffer
			blobs := layout.Blobs{}
			one, err := blobs.AddJSON(types.OCIImageIndex, v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex})
			two := one
			two.Annotations = map[string]string{"a": "b"}
			if err == nil {
				err = layout.Write(&archive, []v1.Descriptor{one, two}, blobs)
			}
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(folder, "addon-agent.tar"), archive.Bytes())
			sum(t, folder)
		}, "it has 2 images, and must have one"},
	} {
		folder := release(t, "registry.test/interlock-")
		test.change(folder)
		opened, err := Open(t.Context(), loopback, folder, "")
		if err == nil {
			_, err = imagesOf(t, opened)
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := t.TempDir()
	write(t, filepath.Join(other, "Chart.yaml"), []byte("apiVersion: v2\nname: other\nversion: 1.0.0\n"))
	for path, want := range map[string]string{other: `it is the chart "other"`, filepath.Join(other, "none"): "there is no file or folder"} {
		if _, err := Open(t.Context(), loopback, path, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	_, err := Open(t.Context(), loopback, chartFolder, other)
	if err == nil || !strings.Contains(err.Error(), "has no addon-manager.tar, addon-agent.tar") {
		t.Errorf("%v", err)
	}
}

// A release goes from files to a registry, and from there to another one, with the same digests.
func TestReleaseInARegistry(t *testing.T) {
	server := httptest.NewServer(containerregistry.New())
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	folder := release(t, Prefix(host+"/first"))
	opened, err := Open(t.Context(), loopback, folder, "")
	if err != nil {
		t.Fatal(err)
	}
	push(t, opened, Prefix(host+"/first"))
	pushChart(t, opened, host+"/charts/interlock:1.2.3")

	pulled, err := Open(t.Context(), loopback, "oci://"+host+"/charts/interlock:1.2.3", "")
	if err != nil || pulled.Version() != "1.2.3" || pulled.HasImages() || !bytes.Equal(pulled.Archive, opened.Archive) {
		t.Fatalf("%+v, %v", pulled, err)
	}
	push(t, pulled, Prefix(host+"/second"))
	for _, program := range Programs {
		reference, err := name.ParseReference(Prefix(host+"/second")+program+":1.2.3", name.Insecure)
		if err != nil {
			t.Fatal(err)
		}
		if head, err := remote.Head(reference); err != nil || head.Digest.String() != opened.Digest(program) {
			t.Errorf("%s: %+v, %v", program, head, err)
		}
	}
	for reference, want := range map[string]string{
		Prefix(host+"/first") + "addon-manager:1.2.3": "it is no chart", host + "/charts/interlock": "a tag or digest is missing",
	} {
		if _, err := Open(t.Context(), loopback, "oci://"+reference, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", reference, err)
		}
	}
}

func push(t *testing.T, opened *Release, prefix string) {
	t.Helper()
	images, err := imagesOf(t, opened)
	if err != nil {
		t.Fatal(err)
	}
	for i := range images {
		target, err := Target(loopback, prefix, &images[i])
		if err != nil {
			t.Fatal(err)
		}
		if has, err := loopback.Has(t.Context(), target); has || err != nil {
			t.Errorf("%s is there: %t, %v", target, has, err)
		}
		if err := loopback.CheckPush(t.Context(), target); err != nil {
			t.Error(err)
		}
		var reported, size int64
		if err := Push(t.Context(), loopback, target, &images[i], func(read, total int64) { reported, size = read, total }); err != nil {
			t.Fatal(err)
		}
		if has, err := loopback.Has(t.Context(), target); !has || err != nil {
			t.Errorf("%s is not there: %v", target, err)
		}
		// The registry has the content of the second push already, in another repository.
		if reported != size || opened.HasImages() == (size == 0) {
			t.Errorf("%d of %d bytes were read", reported, size)
		}
	}
}

// pushChart pushes a chart as Helm does.
func pushChart(t *testing.T, opened *Release, target string) {
	t.Helper()
	blobs := layout.Blobs{}
	config, err := blobs.Add("application/vnd.cncf.helm.config.v1+json", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	content, err := blobs.Add(chartLayer, opened.Archive)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := blobs.AddJSON(types.OCIManifestSchema1, v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: config, Layers: []v1.Descriptor{content},
	})
	if err != nil {
		t.Fatal(err)
	}
	reference, err := loopback.Reference(target)
	if err != nil {
		t.Fatal(err)
	}
	if err := loopback.Put(t.Context(), reference, manifest, blobs); err != nil {
		t.Fatal(err)
	}
}
