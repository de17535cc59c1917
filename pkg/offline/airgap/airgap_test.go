package airgap

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
	"open-cluster-management.io/interlock/pkg/offline/airgap/signature"
	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/offline/objectfiles"
)

// gateway is an add-on whose agent has images.
const gateway = `apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata: {name: gateway, annotations: {dependency.addon.open-cluster-management.io/version: VERSION}}
spec:
  installStrategy: {type: Manual}
  supportedConfigs:
  - {group: addon.open-cluster-management.io, resource: addontemplates, defaultConfig: {name: gateway}}
---
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: AddOnTemplate
metadata: {name: gateway, annotations: {dependency.addon.open-cluster-management.io/version: VERSION}}
spec:
  addonName: gateway
  agentSpec:
    workload:
      manifests:
      - apiVersion: apps/v1
        kind: Deployment
        spec:
          template:
            spec:
              initContainers: [{image: IMAGE}]
              containers: [{image: "{{REGISTRY}}/agent"}, {name: none}, {image: 5}]
              volumes: [{image: {reference: IMAGE}}]
`

const wishes = "apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnWishes\naddOns: [{name: gateway}]\n"

// releasesOf returns the releases 1.0.0 and 2.0.0 of gateway with an image.
func releasesOf(t *testing.T, image string) []index.Entry {
	t.Helper()
	var releases []index.Entry
	for _, version := range []string{"1.0.0", "2.0.0"} {
		content := strings.NewReplacer("VERSION", version, "IMAGE", image).Replace(gateway)
		objects, _, err := objectfiles.Read([]string{"-"}, strings.NewReader(content), "")
		if err != nil {
			t.Fatal(err)
		}
		entries, err := index.Build(objects, "test", nil)
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, entries...)
	}
	return releases
}

// contentOf returns a package with the highest release.
func contentOf(t *testing.T, entries []index.Entry) *Content {
	t.Helper()
	want, err := index.DecodeWishes([]byte(wishes))
	if err != nil {
		t.Fatal(err)
	}
	lock, err := index.Resolve(entries, want)
	if err != nil {
		t.Fatal(err)
	}
	file, err := lock.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	content, err := New([]byte(wishes), file, entries)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func pack(t *testing.T, content *Content, key crypto.Signer) *Package {
	t.Helper()
	packed, err := Pack(content, layout.Blobs{}, key)
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func archiveOf(t *testing.T, packed *Package) []byte {
	t.Helper()
	var archive bytes.Buffer
	if err := packed.Write(&archive); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

func readArchive(archive []byte) (*Package, error) {
	return Source{}.ReadArchive(bytes.NewReader(archive), int64(len(archive)))
}

func generate(t *testing.T) (crypto.PublicKey, crypto.Signer) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return public, private
}

func TestAPackageHasWhatTheLockNames(t *testing.T) {
	_, key := generate(t)
	packed := pack(t, contentOf(t, releasesOf(t, "quay.io/a/b:1")), key)
	archive := archiveOf(t, packed)
	read, err := readArchive(archive)
	if err != nil {
		t.Fatal(err)
	}
	if len(read.Entries) != 1 || read.Entries[0].Version != "2.0.0" || string(read.Locked.Wishes) != wishes {
		t.Errorf("%d releases, wishes %q", len(read.Entries), read.Locked.Wishes)
	}
	want := []Image{
		{Image: "quay.io/a/b:1", NamedBy: []string{"gateway 2.0.0"}},
		{Image: "{{REGISTRY}}/agent", NamedBy: []string{"gateway 2.0.0"}},
	}
	if diff := cmp.Diff(want, read.Images); diff != "" {
		t.Error(diff)
	}
	if repeated := archiveOf(t, pack(t, contentOf(t, releasesOf(t, "quay.io/a/b:1")), key)); !bytes.Equal(archive, repeated) {
		t.Error("the same input gave other bytes")
	}
	if !bytes.Equal(archive, archiveOf(t, read)) {
		t.Error("it was read as something else")
	}
}

func TestAPackageOfAnotherLockIsRefused(t *testing.T) {
	content := contentOf(t, releasesOf(t, "a"))
	for name, change := range map[string]func(lock string) string{
		"another digest":      func(lock string) string { return strings.Replace(lock, "digest: sha256:", "digest: sha256:0", 1) },
		"no such release":     func(lock string) string { return strings.Replace(lock, "version: 2.0.0", "version: 3.0.0", 1) },
		"something different": func(string) string { return "kind: List\n" },
	} {
		if _, err := New([]byte(wishes), []byte(change(string(content.Locked.Lock))), releasesOf(t, "a")); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestReadRefusesAnotherPackage(t *testing.T) {
	releases := releasesOf(t, "quay.io/a/b:1")
	for name, tt := range map[string]struct {
		change   func(c *Content)
		manifest func(m *v1.Manifest)
		want     string
	}{
		"a release that is not locked": {
			change: func(c *Content) { c.Entries = releases },
			want:   "it has releases that its lock does not name",
		},
		"a missing release": {change: func(c *Content) { c.Entries = nil }, want: "gateway 2.0.0 is locked, and the index has no such release"},
		"an image that is not named": {
			change: func(c *Content) { c.Images = append(c.Images, Image{Image: "quay.io/evil:1"}) },
			want:   "its images are not those that its releases name",
		},
		"another lock": {change: func(c *Content) { c.Description.Lock = "" }, want: "its wishes or its lock are not those of its configuration"},
		"wishes that the lock does not satisfy": {
			change: func(c *Content) {
				setWishes(c, strings.Replace(wishes, "{name: gateway}", "{name: gateway, version: < 2}", 1))
			},
			want: "addons.lock: it does not satisfy the wishes: on clusters of kind default, this wish cannot be satisfied",
		},
		"wishes for other clusters": {
			change: func(c *Content) { setWishes(c, wishes+"clusterKinds: [{name: default, kubernetes: 1.32.0}]\n") },
			want:   "clusters of kind default are others than those of the wishes",
		},
		"wishes for more clusters": {
			change: func(c *Content) { setWishes(c, wishes+"clusterKinds: [{name: default}, {name: edge}]\n") },
			want:   "it is for other kinds of clusters than the wishes",
		},
		"another kind":   {change: func(c *Content) { c.Kind = "List" }, want: `its configuration is of kind "List"`},
		"no wishes":      {change: func(c *Content) { c.Locked.Wishes = nil }, want: "addons.yaml"},
		"no lock":        {change: func(c *Content) { c.Locked.Lock = nil }, want: "addons.lock"},
		"another type":   {manifest: func(m *v1.Manifest) { m.Config.MediaType = "application/x" }, want: "it is no package of add-ons"},
		"a name twice":   {manifest: func(m *v1.Manifest) { m.Layers = append(m.Layers, m.Layers[0]) }, want: "it is there twice"},
		"another name":   {manifest: renameFile(2, "addons/gateway/9.9.9.yaml"), want: "gateway 2.0.0 belongs to addons/gateway/2.0.0.yaml"},
		"a path outside": {manifest: renameFile(2, "../../.bashrc"), want: "gateway 2.0.0 belongs to addons/gateway/2.0.0.yaml"},
		"another file":   {manifest: renameFile(0, "README.md"), want: `"README.md": a package has no such file`},
		"a large file":   {manifest: func(m *v1.Manifest) { m.Layers[0].Size = maxSize }, want: "it has more than"},
		"a negative one": {manifest: func(m *v1.Manifest) { m.Layers[0].Size = -1 }, want: "it has more than"},
	} {
		t.Run(name, func(t *testing.T) {
			content := contentOf(t, releases)
			if tt.change != nil {
				tt.change(content)
			}
			blobs := layout.Blobs{}
			artifact, err := content.Manifest(blobs)
			if err != nil {
				t.Fatal(err)
			}
			if tt.manifest != nil {
				artifact = changeManifest(t, blobs, artifact, tt.manifest)
			}
			if _, err := Read(blobs, artifact); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// setWishes replaces the wishes of a package.
func setWishes(c *Content, file string) {
	c.Locked.Wishes = []byte(file)
	c.Description.Wishes = digestOf(c.Locked.Wishes)
}

// renameFile renames a file of a package.
func renameFile(layer int, name string) func(*v1.Manifest) {
	return func(m *v1.Manifest) { m.Layers[layer].Annotations = map[string]string{title: name} }
}

// changeManifest returns a changed copy of a manifest.
func changeManifest(t *testing.T, blobs layout.Blobs, manifest v1.Descriptor, change func(*v1.Manifest)) v1.Descriptor {
	t.Helper()
	raw, err := blobs.Read(manifest)
	if err != nil {
		t.Fatal(err)
	}
	var parsed v1.Manifest
	if err := json.Unmarshal(raw, &parsed); err != nil {
		t.Fatal(err)
	}
	change(&parsed)
	added, err := blobs.AddJSON(manifest.MediaType, parsed)
	if err != nil {
		t.Fatal(err)
	}
	return added
}

// A change of any byte of an archive is refused, or does not change the package.
func TestEachByteIsChecked(t *testing.T) {
	public, key := generate(t)
	packed := pack(t, contentOf(t, releasesOf(t, "quay.io/a/b:1")), key)
	archive := archiveOf(t, packed)
	want, err := packed.Files()
	if err != nil {
		t.Fatal(err)
	}
	refused, tried := 0, 0
	for i := range archive {
		if i%31 != 0 { // all bytes would take too long
			continue
		}
		tried++
		archive[i] ^= 1
		read, err := Source{Key: public}.ReadArchive(bytes.NewReader(archive), int64(len(archive)))
		archive[i] ^= 1
		if err != nil {
			refused++
			continue
		}
		got, err := read.Files()
		equal := cmp.Equal(got, want, cmp.AllowUnexported(File{}))
		if err != nil || read.Artifact.Digest != packed.Artifact.Digest || !equal || len(read.PackedImages) > 0 {
			t.Fatalf("byte %d was changed, and so is the package: %v", i, err)
		}
	}
	if refused < tried/2 {
		t.Errorf("only %d of %d changes were refused", refused, tried)
	}
}

func TestSignaturesAreRequired(t *testing.T) {
	public, key := generate(t)
	wrongKey, _ := generate(t)
	content := contentOf(t, releasesOf(t, "a"))
	for name, tt := range map[string]struct {
		packed *Package
		key    crypto.PublicKey
		want   error
	}{
		"signed":              {pack(t, content, key), public, nil},
		"not signed":          {pack(t, content, nil), public, signature.ErrUnsigned},
		"by another key":      {pack(t, content, key), wrongKey, signature.ErrWrong},
		"for another package": {withSignatureOfAnother(t, content, key), public, signature.ErrWrong},
		"as by cosign 2":      {withOnly(pack(t, content, key), true), public, nil},
		"as by cosign 3":      {withOnly(pack(t, content, key), false), public, nil},
	} {
		path := filepath.Join(t.TempDir(), "a.tar")
		if err := tt.packed.WriteFile(path); err != nil {
			t.Fatal(err)
		}
		read, err := Source{Key: tt.key}.Open(t.Context(), path)
		if !errors.Is(err, tt.want) || err != nil && tt.want == nil {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
		if err == nil {
			err = read.Close()
		}
		if err != nil && tt.want == nil {
			t.Error(err)
		}
	}
}

// withOnly returns a package with signatures of one format.
func withOnly(packed *Package, tagged bool) *Package {
	if tagged {
		packed.Signatures.Bundles = nil
	} else {
		packed.Signatures.Tagged = nil
	}
	return packed
}

// withSignatureOfAnother returns a package with the signature of another package.
func withSignatureOfAnother(t *testing.T, content *Content, key crypto.Signer) *Package {
	t.Helper()
	packed, signed := pack(t, content, nil), pack(t, contentOf(t, releasesOf(t, "b")), key)
	maps.Copy(packed.Blobs, signed.Blobs)
	packed.Signatures = signed.Signatures
	return packed
}

func TestWriteFileLeavesNothingBehind(t *testing.T) {
	packed := pack(t, contentOf(t, releasesOf(t, "a")), nil)
	delete(packed.Blobs, slices.Collect(maps.Keys(packed.Blobs))[0])
	folder := t.TempDir()
	if err := packed.WriteFile(filepath.Join(folder, "a.tar")); err == nil {
		t.Error("a package without one of its files was written")
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) > 0 {
		t.Error(files, err)
	}
}

func FuzzReadArchive(f *testing.F) {
	t := &testing.T{}
	packed := pack(t, contentOf(t, releasesOf(t, "quay.io/a/b:1")), nil)
	f.Add(archiveOf(t, packed))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, archive []byte) {
		read, err := readArchive(archive)
		if err != nil {
			return
		}
		if err := read.check(); err != nil {
			t.Error(err)
		}
		if rewritten, err := readArchive(archiveOf(t, read)); err != nil || rewritten.Artifact.Digest != read.Artifact.Digest {
			t.Errorf("what was read is written as something else: %v", err)
		}
	})
}

// FuzzRead reads packages with valid digests and any content.
func FuzzRead(f *testing.F) {
	t := &testing.T{}
	content, blobs := contentOf(t, releasesOf(t, "quay.io/a/b:1")), layout.Blobs{}
	artifact, err := content.Manifest(blobs)
	if err != nil {
		f.Fatal(err)
	}
	raw, err := blobs.Read(artifact)
	if err != nil {
		f.Fatal(err)
	}
	description, err := json.Marshal(content.Description)
	if err != nil {
		f.Fatal(err)
	}
	release, err := content.Entries[0].Bytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw, description, content.Locked.Wishes, content.Locked.Lock, release)
	f.Fuzz(func(t *testing.T, raw, description, wishes, lock, release []byte) {
		blobs := layout.Blobs{}
		for _, file := range [][]byte{description, wishes, lock, release} {
			if _, err := blobs.Add("", file); err != nil {
				t.Fatal(err)
			}
		}
		artifact, err := blobs.Add("application/vnd.oci.image.manifest.v1+json", raw)
		if err != nil {
			t.Fatal(err)
		}
		read, err := Read(blobs, artifact)
		if err != nil {
			return
		}
		if err := read.check(); err != nil {
			t.Error(err)
		}
		files, err := read.Files()
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if !filepath.IsLocal(file.Name) {
				t.Errorf("%q leads out of a folder", file.Name)
			}
		}
	})
}
