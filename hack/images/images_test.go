package main

import (
	"archive/tar"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"open-cluster-management.io/interlock/hack/images/image"
	"open-cluster-management.io/interlock/hack/images/program"
)

var created = time.Unix(1_700_000_000, 0).UTC()

// hello returns an order for an image of testdata/hello. It is built from a copy in a folder
// of its own.
func hello(t *testing.T) *order {
	t.Helper()
	module := t.TempDir()
	if err := os.CopyFS(module, os.DirFS("testdata/hello")); err != nil {
		t.Fatal(err)
	}
	return &order{out: t.TempDir(), images: []image.Image{{
		Program: program.Program{
			Name: "hello", Package: ".", ModuleDir: module, Version: "v1.2.3", LDFlags: "-s -w", Created: created,
		},
		Entrypoint: true, Repository: "localhost/hello", Revision: "abc",
		Platforms: []program.Platform{{System: "linux", Architecture: "amd64"}, {System: "linux", Architecture: "arm64"}},
	}}}
}

func makeAll(t *testing.T, o *order) {
	t.Helper()
	if err := o.run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// index returns the index of the only image in the layout.
func index(t *testing.T, o *order) v1.ImageIndex {
	t.Helper()
	path, err := layout.FromPath(filepath.Join(o.out, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	outer, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := outer.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("%d images in the layout, %v", len(manifest.Manifests), err)
	}
	annotations := manifest.Manifests[0].Annotations
	if annotations["io.containerd.image.name"] != "localhost/hello:v1.2.3" || annotations["org.opencontainers.image.ref.name"] != "v1.2.3" {
		t.Errorf("annotations %v", annotations)
	}
	inner, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return inner
}

func TestAnImageHoldsAStaticProgramForEachPlatform(t *testing.T) {
	o := hello(t)
	makeAll(t, o)
	made := index(t, o)
	if err := validate.Index(made); err != nil {
		t.Fatal(err)
	}
	manifest, err := made.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	machines := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}
	if len(manifest.Manifests) != len(machines) {
		t.Fatalf("%d platforms", len(manifest.Manifests))
	}
	for _, descriptor := range manifest.Manifests {
		single, err := made.Image(descriptor.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := single.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if config.Architecture != descriptor.Platform.Architecture || config.OS != "linux" {
			t.Errorf("%s/%s in the place of %s", config.OS, config.Architecture, descriptor.Platform)
		}
		if config.Config.User != "65532:65532" || config.Config.Entrypoint[0] != "/hello" || !config.Created.Equal(created) {
			t.Errorf("config %+v, created %s", config.Config, config.Created)
		}
		if config.Config.Labels["org.opencontainers.image.version"] != "v1.2.3" ||
			config.Config.Labels["org.opencontainers.image.revision"] != "abc" {
			t.Errorf("labels %v", config.Config.Labels)
		}
		program := files(t, single)["hello"]
		binary, err := elf.NewFile(strings.NewReader(program))
		if err != nil {
			t.Fatal(err)
		}
		if binary.Machine != machines[config.Architecture] {
			t.Errorf("a program for %s in the image for %s", binary.Machine, config.Architecture)
		}
		for _, segment := range binary.Progs {
			if segment.Type == elf.PT_INTERP {
				t.Error("the program is not static")
			}
		}
	}
}

// files returns the contents of the image's files, by name.
func files(t *testing.T, single v1.Image) map[string]string {
	t.Helper()
	extracted := mutate.Extract(single)
	defer extracted.Close()
	return untar(t, extracted)
}

func untar(t *testing.T, reader io.Reader) map[string]string {
	t.Helper()
	contents := map[string]string{}
	for archive := tar.NewReader(reader); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return contents
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		contents[header.Name] = string(content)
	}
}

// Neither folders nor the time of the build change the bytes.
func TestTheSameSourceGivesTheSameFiles(t *testing.T) {
	first, second := hello(t), hello(t)
	makeAll(t, first)
	makeAll(t, second)
	if a, b := digest(t, first), digest(t, second); a != b {
		t.Errorf("digest %s, then %s", a, b)
	}
	for _, file := range []string{"hello.tar", "hello_linux_amd64.cdx.json", "hello_linux_arm64.cdx.json"} {
		a, errA := os.ReadFile(filepath.Join(first.out, file))
		b, errB := os.ReadFile(filepath.Join(second.out, file))
		if errors.Join(errA, errB) != nil || string(a) != string(b) {
			t.Errorf("%s differs (%v)", file, errors.Join(errA, errB))
		}
	}
	changed := hello(t)
	changed.images[0].Version = "v1.2.4"
	makeAll(t, changed)
	path, err := layout.ImageIndexFromPath(filepath.Join(changed.out, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	if manifest, err := path.IndexManifest(); err != nil || manifest.Manifests[0].Digest == digest(t, first) {
		t.Errorf("another version has the same digest (%v)", err)
	}
}

func TestAnImageCanLeaveItsCommandToPods(t *testing.T) {
	o := hello(t)
	o.images[0].Links, o.images[0].Entrypoint = []string{"greet"}, false
	makeAll(t, o)
	made := index(t, o)
	manifest, err := made.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	single, err := made.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	config, err := single.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if len(config.Config.Entrypoint) > 0 {
		t.Errorf("entrypoint %v", config.Config.Entrypoint)
	}
	if _, ok := files(t, single)["greet"]; !ok {
		t.Error("the image lacks /greet")
	}
}

func TestAnImageCanHaveSeveralNames(t *testing.T) {
	o := hello(t)
	o.images[0].Aliases = []string{"localhost/greet"}
	makeAll(t, o)
	path, err := layout.ImageIndexFromPath(filepath.Join(o.out, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := path.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, descriptor := range manifest.Manifests {
		names = append(names, descriptor.Annotations["io.containerd.image.name"])
		if descriptor.Digest != manifest.Manifests[0].Digest {
			t.Errorf("%s is another image", names[len(names)-1])
		}
	}
	if got := strings.Join(names, " "); got != "localhost/hello:v1.2.3 localhost/greet:v1.2.3" {
		t.Errorf("names %q", got)
	}
}

func digest(t *testing.T, o *order) v1.Hash {
	t.Helper()
	digest, err := index(t, o).Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

func TestTheArchiveIsTheLayout(t *testing.T) {
	o := hello(t)
	makeAll(t, o)
	file, err := os.Open(filepath.Join(o.out, "hello.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	packed := untar(t, file)
	for _, name := range []string{"oci-layout", "index.json"} {
		content, err := os.ReadFile(filepath.Join(o.out, "hello", name))
		if err != nil || packed[name] != string(content) {
			t.Errorf("%s: %q in the archive (%v)", name, packed[name], err)
		}
	}
	want := digest(t, o)
	if _, ok := packed["blobs/"+want.Algorithm+"/"+want.Hex]; !ok {
		t.Errorf("the archive lacks %s", want)
	}
}

func TestTheBillNamesWhatWasLinked(t *testing.T) {
	o := hello(t)
	makeAll(t, o)
	content, err := os.ReadFile(filepath.Join(o.out, "hello_linux_arm64.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		BOMFormat string `json:"bomFormat"`
		Metadata  struct {
			Component struct{ Name, Version string }
		}
		Components []struct {
			Name, Version, Purl string
			Licenses            []struct{ License struct{ ID string } }
		}
	}
	if err := json.Unmarshal(content, &bill); err != nil {
		t.Fatal(err)
	}
	if bill.BOMFormat != "CycloneDX" || bill.Metadata.Component.Name != "localhost/hello" || bill.Metadata.Component.Version != "v1.2.3" {
		t.Errorf("%+v", bill)
	}
	if len(bill.Components) != 2 || bill.Components[0].Name != "std" || !strings.HasPrefix(bill.Components[0].Purl, "pkg:golang/std@1.") {
		t.Fatalf("components %+v", bill.Components)
	}
	// It is a folder of the program's own repository.
	if greeting := bill.Components[1]; greeting.Name != "example.com/greeting" || greeting.Purl != "pkg:golang/example.com/greeting@v1.2.3" {
		t.Errorf("component %+v", greeting)
	}
	for i, want := range []string{"BSD-3-Clause", "MIT"} {
		if licenses := bill.Components[i].Licenses; len(licenses) != 1 || licenses[0].License.ID != want {
			t.Errorf("%s has the licences %v, want %s", bill.Components[i].Name, licenses, want)
		}
	}
}

func TestAnImageHasTheLicencesOfWhatIsLinked(t *testing.T) {
	o := hello(t)
	makeAll(t, o)
	manifest, err := index(t, o).IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for _, descriptor := range manifest.Manifests {
		single, err := index(t, o).Image(descriptor.Digest)
		if err != nil {
			t.Fatal(err)
		}
		content := files(t, single)
		for name, want := range map[string]string{
			"licenses/example.com/hello/LICENSE":           "Copyright the authors of hello",
			"licenses/std/LICENSE":                         "The Go Authors",
			"licenses/example.com/greeting/LICENSE":        "The authors of the greeting",
			"licenses/example.com/greeting/old/NOTICE.txt": "taken over from elsewhere",
		} {
			if !strings.Contains(content[name], want) {
				t.Errorf("%s: %s is %q, want a text with %q", descriptor.Platform, name, content[name], want)
			}
		}
		if _, ok := content["licenses/example.com/greeting/greeting.go"]; ok {
			t.Error("more than texts of licences")
		}
	}
}

func TestAModuleWithoutALicenceIsNamed(t *testing.T) {
	for name, text := range map[string]string{"no file": "", "no known text": "Do as you like with this."} {
		t.Run(name, func(t *testing.T) {
			o := hello(t)
			if err := os.WriteFile(filepath.Join(o.images[0].ModuleDir, "greeting", "LICENSE"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := o.run(t.Context()); err == nil || !strings.Contains(err.Error(), "licence of example.com/greeting") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestPushCopiesTheIndexAsItIs(t *testing.T) {
	server := httptest.NewServer(registry.New())
	defer server.Close()
	o := hello(t)
	o.push, o.insecure = true, true
	o.images[0].Repository = strings.TrimPrefix(server.URL, "http://") + "/mirror/hello"
	if err := o.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	tag, err := name.NewTag(o.images[0].Reference(), name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	pushed, err := remote.Index(tag)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(pushed); err != nil {
		t.Error(err)
	}
}

// A registry may serve the list of referrers, or has it under a tag.
func TestPushAttachesTheBillsToTheirImages(t *testing.T) {
	for kind, options := range map[string][]registry.Option{
		"a registry with the referrers API":    {registry.WithReferrersSupport(true)},
		"a registry without the referrers API": nil,
	} {
		t.Run(kind, func(t *testing.T) {
			server := httptest.NewServer(registry.New(append(options, registry.Logger(log.New(io.Discard, "", 0)))...))
			defer server.Close()
			o := hello(t)
			o.push, o.insecure = true, true
			o.images[0].Repository = strings.TrimPrefix(server.URL, "http://") + "/mirror/hello"
			makeAll(t, o)
			tag, err := name.NewTag(o.images[0].Reference(), name.Insecure)
			if err != nil {
				t.Fatal(err)
			}
			pushed, err := remote.Index(tag)
			if err != nil {
				t.Fatal(err)
			}
			manifest, err := pushed.IndexManifest()
			if err != nil {
				t.Fatal(err)
			}
			if len(manifest.Manifests) < 2 {
				t.Fatalf("platforms %v", manifest.Manifests)
			}
			for _, single := range manifest.Manifests {
				file := fmt.Sprintf("hello_%s_%s.cdx.json", single.Platform.OS, single.Platform.Architecture)
				want, err := os.ReadFile(filepath.Join(o.out, file))
				if err != nil {
					t.Fatal(err)
				}
				if got := attached(t, o.images[0].Repository, single.Digest); got != string(want) {
					t.Errorf("%s is not attached to %s, but %q", file, single.Digest, got)
				}
			}
		})
	}
}

// attached returns the content of the only artifact that refers to an image.
func attached(t *testing.T, repository string, digest v1.Hash) string {
	t.Helper()
	target, err := name.NewRepository(repository, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	referrers, err := remote.Referrers(target.Digest(digest.String()))
	if err != nil {
		t.Fatal(err)
	}
	list, err := referrers.IndexManifest()
	if err != nil || len(list.Manifests) != 1 || list.Manifests[0].ArtifactType != "application/vnd.cyclonedx+json" {
		t.Fatalf("referrers %+v (%v)", list, err)
	}
	artifact, err := remote.Image(target.Digest(list.Manifests[0].Digest.String()))
	if err != nil {
		t.Fatal(err)
	}
	layers, err := artifact.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("layers %v (%v)", layers, err)
	}
	reader, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestPushWantsARegistry(t *testing.T) {
	o := hello(t)
	o.push = true
	if err := o.run(t.Context()); err == nil || !strings.Contains(err.Error(), "-repository-prefix") {
		t.Errorf("error %v", err)
	}
}

func TestAProgramThatDoesNotCompileIsNamed(t *testing.T) {
	o := hello(t)
	program := []byte("package main\n\nfunc main() { nothing() }\n")
	if err := os.WriteFile(filepath.Join(o.images[0].ModuleDir, "main.go"), program, 0o600); err != nil {
		t.Fatal(err)
	}
	err := o.run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "image hello: build . for linux/amd64") || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("error %v", err)
	}
}
