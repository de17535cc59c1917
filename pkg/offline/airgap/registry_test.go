package airgap

import (
	"bytes"
	"crypto"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	ggcr "github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
	"open-cluster-management.io/interlock/pkg/offline/airgap/registry"
	"open-cluster-management.io/interlock/pkg/offline/airgap/signature"
)

// fakeRegistry is a registry on loopback that records its requests, and may respond with wrong content.
type fakeRegistry struct {
	http.Handler
	host     string
	mutex    sync.Mutex
	requests []string
	// override responds to a request if it returns true.
	override func(http.ResponseWriter, *http.Request) bool
}

func (s *fakeRegistry) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	s.mutex.Lock()
	s.requests = append(s.requests, request.Method+" "+request.URL.Path)
	s.mutex.Unlock()
	if s.override == nil || !s.override(writer, request) {
		s.Handler.ServeHTTP(writer, request)
	}
}

func serve(t *testing.T, options ...ggcr.Option) *fakeRegistry {
	t.Helper()
	s := &fakeRegistry{Handler: ggcr.New(append(options, ggcr.Logger(log.New(io.Discard, "", 0)))...)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.host = address.Host
	return s
}

var insecure = registry.Client{Insecure: true}

// push pushes a package as addons:1.0.0.
func push(t *testing.T, target *fakeRegistry, packed *Package) name.Reference {
	t.Helper()
	reference, err := insecure.Reference(target.host + "/some/addons:1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	if err := packed.Push(t.Context(), insecure, reference, target.host); err != nil {
		t.Fatal(err)
	}
	return reference
}

func TestAPackageIsPulledAsItWasPushed(t *testing.T) {
	public, key := generate(t)
	inner := serve(t)
	packed := pack(t, contentOf(t, releasesOf(t, "a")), key)
	reference := push(t, inner, packed)
	byDigest := reference.Context().Digest(packed.Artifact.Digest.String()).String()
	for _, source := range []string{reference.String(), Scheme + reference.String(), byDigest} {
		pulled, err := Source{insecure, public}.Open(t.Context(), source)
		if err != nil {
			t.Fatal(source, err)
		}
		if !bytes.Equal(archiveOf(t, packed), archiveOf(t, pulled)) {
			t.Errorf("%s is another package", source)
		}
	}
	wrongDigest := reference.Context().Digest("sha256:" + strings.Repeat("0", 64)).String()
	if _, err := (Source{Client: insecure}).Open(t.Context(), wrongDigest); err == nil {
		t.Error("another digest was accepted")
	}
}

// A registry may list what refers to an artifact, or leave that to its clients. In both, a push keeps the signatures of others.
func TestAPushKeepsTheSignaturesThatAreThere(t *testing.T) {
	for _, lists := range []bool{true, false} {
		inner := serve(t, ggcr.WithReferrersSupport(lists))
		content := contentOf(t, releasesOf(t, "a"))
		var keys []crypto.PublicKey
		reference := ""
		for range 3 {
			public, key := generate(t)
			keys = append(keys, public)
			reference = push(t, inner, pack(t, content, key)).String()
			push(t, inner, pack(t, content, key)) // the same signatures again
		}
		for i, key := range keys {
			pulled, err := Source{insecure, key}.Open(t.Context(), reference)
			if err != nil {
				t.Fatalf("referrers %t: key %d: %v", lists, i, err)
			}
			manifest, err := pulled.Blobs.Children(*pulled.Signatures.Tagged)
			if err != nil {
				t.Fatal(err)
			}
			if bundles := len(pulled.Signatures.Bundles); bundles != len(keys) || len(manifest) != 1+len(keys) {
				t.Errorf("referrers %t: %d bundles, and %d blobs with the tag", lists, bundles, len(manifest))
			}
			for _, only := range []bool{true, false} {
				if _, err := (Source{Key: key}).ReadArchive(archiveReader(t, withOnly(pulled, only))); err != nil {
					t.Errorf("referrers %t: key %d: %v", lists, i, err)
				}
				if pulled, err = (Source{insecure, key}).Open(t.Context(), reference); err != nil {
					t.Fatal(err)
				}
			}
		}
		stranger, _ := generate(t)
		if _, err := (Source{insecure, stranger}).Open(t.Context(), reference); !errors.Is(err, signature.ErrWrong) {
			t.Errorf("referrers %t: another key: %v", lists, err)
		}
	}
}

func archiveReader(t *testing.T, packed *Package) (io.ReaderAt, int64) {
	t.Helper()
	archive := archiveOf(t, packed)
	return bytes.NewReader(archive), int64(len(archive))
}

// Images are packed from their registry into the archive, and pushed from there into a second registry.
func TestImagesAreCarriedOver(t *testing.T) {
	outer, inner := serve(t), serve(t)
	platforms, err := random.Index(512, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	image := outer.host + "/team/agent:1"
	reference, err := insecure.Image(image)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.WriteIndex(reference, platforms); err != nil {
		t.Fatal(err)
	}
	content, blobs := contentOf(t, releasesOf(t, image)), layout.Blobs{}
	images, err := content.Fetch(t.Context(), insecure, blobs)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := Pack(content, blobs, nil)
	if err != nil {
		t.Fatal(err)
	}
	packed.PackedImages = images
	path := filepath.Join(t.TempDir(), "a.tar")
	if err := packed.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	carried, err := Source{}.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer carried.Close()
	want, err := platforms.Digest()
	if err != nil {
		t.Fatal(err)
	}
	if len(carried.PackedImages) != 1 || carried.Images[0].Digest != want.String() {
		t.Errorf("%d images, the first %+v", len(carried.PackedImages), carried.Images[0])
	}
	push(t, inner, carried)
	target, err := insecure.Image(inner.host + "/team/agent:1")
	if err != nil {
		t.Fatal(err)
	}
	if pushed, err := remote.Index(target); err != nil {
		t.Error(err)
	} else if digest, err := pushed.Digest(); err != nil || digest != want {
		t.Errorf("%s, %v, want %s", digest, err, want)
	}
	inner.requests = nil
	pulled, err := Source{Client: insecure}.Open(t.Context(), inner.host+"/some/addons:1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, request := range inner.requests {
		if strings.Contains(request, "team/agent") {
			t.Errorf("pulling a package requested %s", request)
		}
	}
	if len(pulled.PackedImages) != 0 || pulled.Images[0].Digest != want.String() {
		t.Errorf("%d images, the first %+v", len(pulled.PackedImages), pulled.Images[0])
	}
}

func TestAnArchiveWithAnImageThatIsNotNamedIsRefused(t *testing.T) {
	content, blobs := contentOf(t, releasesOf(t, "quay.io/a:1")), layout.Blobs{}
	packed, err := Pack(content, blobs, nil)
	if err != nil {
		t.Fatal(err)
	}
	image, err := blobs.Add("application/x", []byte("image"))
	if err != nil {
		t.Fatal(err)
	}
	for _, reference := range []string{"", "quay.io/a:1", "quay.io/b:1"} {
		image.Annotations = map[string]string{referenceAnnotation: reference}
		packed.PackedImages = []v1.Descriptor{image}
		if _, err := readArchive(archiveOf(t, packed)); err == nil || !strings.Contains(err.Error(), "that the package does not name") {
			t.Error(reference, err)
		}
	}
}

func TestARegistryThatLies(t *testing.T) {
	packed := pack(t, contentOf(t, releasesOf(t, "a")), nil)
	respond := func(path string, content string, mediaType string) func(http.ResponseWriter, *http.Request) bool {
		return func(writer http.ResponseWriter, request *http.Request) bool {
			if !strings.Contains(request.URL.Path, path) {
				return false
			}
			writer.Header().Set("Content-Type", mediaType)
			_, _ = io.WriteString(writer, content) // the client may have gone
			return true
		}
	}
	const manifest, index = "application/vnd.oci.image.manifest.v1+json", "application/vnd.oci.image.index.v1+json"
	for name, tt := range map[string]struct {
		override func(http.ResponseWriter, *http.Request) bool
		want     string
	}{
		"another blob": {respond("/blobs/", "something else", "application/octet-stream"), "error verifying sha256 checksum"},
		"an image":     {respond("/manifests/1.0.0", `{"schemaVersion":2,"config":{},"layers":[]}`, manifest), "it is no package of add-ons"},
		"an index":     {respond("/manifests/1.0.0", `{"schemaVersion":2,"manifests":[]}`, index), "it is no package of add-ons"},
		"an index of some": {
			respond("/manifests/1.0.0", `{"schemaVersion":2,"manifests":[{"mediaType":"`+manifest+`"}]}`, index), "must not refer",
		},
		"no manifest": {respond("/manifests/1.0.0", "<html>", "text/html"), "its manifest"},
		"a large one": {respond("/manifests/1.0.0", strings.Repeat(" ", 5<<20), manifest), "are refused"},
		"a redirection to elsewhere": {func(writer http.ResponseWriter, request *http.Request) bool {
			if strings.Contains(request.URL.Path, "/blobs/") {
				http.Redirect(writer, request, "http://registry.example.com/", http.StatusTemporaryRedirect)
				return true
			}
			return false
		}, "registry.example.com without TLS is refused"},
	} {
		t.Run(name, func(t *testing.T) {
			registry := serve(t)
			reference := push(t, registry, packed)
			registry.override = tt.override
			if _, err := (Source{Client: insecure}).Open(t.Context(), reference.String()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestTLSIsRequired(t *testing.T) {
	registry := serve(t)
	_, err := Source{}.Open(t.Context(), registry.host+"/some/addons:1")
	if err == nil || !strings.Contains(err.Error(), "without TLS is refused") {
		t.Error(err)
	}
	if len(registry.requests) > 0 {
		t.Errorf("it was requested %q", registry.requests)
	}
	for reference, want := range map[string]string{
		"registry.example.com/addons:1":  "--insecure is for registries on loopback, and registry.example.com is none",
		"10.0.0.1:5000/addons:1":         "--insecure is for registries on loopback, and 10.0.0.1:5000 is none",
		"localhost.example.com/addons:1": "--insecure is for registries on loopback",
		"addons:1":                       "registry",
		"localhost:5000/addons":          "tag",
		"localhost:5000/addons:1":        "",
		"127.0.0.1:5000/addons:1":        "",
		"[::1]:5000/addons:1":            "",
	} {
		if _, err := insecure.Reference(reference); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", reference, err, want)
		}
	}
}

func TestTarget(t *testing.T) {
	for image, want := range map[string]string{
		"quay.io/a/b:1": "inner:5000/x/a/b:1",
		"nginx":         "inner:5000/x/library/nginx:latest",
		"quay.io/a/b:1@sha256:" + strings.Repeat("0", 64): "inner:5000/x/a/b@sha256:" + strings.Repeat("0", 64),
	} {
		if got, err := Target(image, "inner:5000/x"); err != nil || got != want {
			t.Errorf("%s: %s, %v", image, got, err)
		}
	}
}
