// Package airgap packs the releases of a lock into one artifact, for hubs without access to the network. A package has the
// wishes, the lock, its releases, and a list of their images.
package airgap

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/offline/airgap/layout"
	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/text"
)

// Kind is the kind of the file that describes a package.
const Kind = "AddOnPackage"

// Media types of the configuration and the files of a package. The type of the configuration identifies a package.
const (
	ConfigType  types.MediaType = "application/vnd.open-cluster-management.interlock.package.v1+json"
	wishesType  types.MediaType = "application/vnd.open-cluster-management.interlock.wishes.v1+yaml"
	lockType    types.MediaType = "application/vnd.open-cluster-management.interlock.lock.v1+yaml"
	releaseType types.MediaType = "application/vnd.open-cluster-management.interlock.release.v1+yaml"
)

// Names of files in a package. Releases have the same names as in an index.
const (
	WishesFile = "addons.yaml"
	LockFile   = "addons.lock"
	// title is the annotation of a blob with the name of its file. It is a standard annotation of OCI images.
	title = "org.opencontainers.image.title"
)

// maxSize is the maximum size of all files of a package together, in bytes.
const maxSize = 256 << 20

// Description is the configuration of a package.
type Description struct {
	metav1.TypeMeta `json:",inline"`
	// Wishes and Lock are the digests of these files. The lock was resolved from the wishes and an index with more releases.
	Wishes string `json:"wishes"`
	Lock   string `json:"lock"`
	// Images has the images that the manifests name, by their references.
	Images []Image `json:"images"`
}

// Image is a container image that manifests name.
type Image struct {
	// Image is the reference in the manifests.
	Image string `json:"image"`
	// Digest is the digest in the reference, or the digest in the registry when the image was packed.
	Digest string `json:"digest,omitempty"`
	// NamedBy has the releases that name the image.
	NamedBy []string `json:"namedBy"`
}

// Locked has the files of the wishes, and of the lock that was resolved from them.
type Locked struct{ Wishes, Lock []byte }

// ResolvedFrom reports whether the lock was resolved from the wishes.
func (l *Locked) ResolvedFrom(wishes []byte) bool { return bytes.Equal(l.Wishes, wishes) }

// Content is the content of a package.
type Content struct {
	Description
	Locked
	// Entries has exactly the releases that the lock names.
	Entries []index.Entry
}

// New makes a package from the releases that a lock names.
func New(wishes, lock []byte, entries []index.Entry) (*Content, error) {
	c := &Content{Locked: Locked{wishes, lock}}
	decoded, err := index.DecodeLock(lock)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", LockFile, err)
	}
	c.Entries = decoded.Locked(entries)
	c.Description = Description{TypeMeta: typeOf(), Wishes: digestOf(wishes), Lock: digestOf(lock), Images: imagesOf(c.Entries)}
	return c, c.check()
}

// check compares the files of a package with each other.
func (c *Content) check() error {
	wishes, err := index.DecodeWishes(c.Locked.Wishes)
	if err != nil {
		return fmt.Errorf("%s: %w", WishesFile, err)
	}
	lock, err := index.DecodeLock(c.Locked.Lock)
	if err != nil {
		return fmt.Errorf("%s: %w", LockFile, err)
	}
	if err := index.CheckError(lock, c.Entries); err != nil {
		return err
	}
	if len(lock.Locked(c.Entries)) != len(c.Entries) {
		return errors.New("it has releases that its lock does not name")
	}
	if err := lock.Satisfies(wishes, c.Entries); err != nil {
		return fmt.Errorf("%s: it does not satisfy the wishes: %w", LockFile, err)
	}
	if c.TypeMeta != typeOf() {
		return fmt.Errorf("its configuration is of kind %q", text.Excerpt(c.Kind))
	}
	if c.Description.Wishes != digestOf(c.Locked.Wishes) || c.Description.Lock != digestOf(c.Locked.Lock) {
		return errors.New("its wishes or its lock are not those of its configuration")
	}
	images := imagesOf(c.Entries)
	if !slices.EqualFunc(images, c.Images, func(a, b Image) bool {
		return a.Image == b.Image && slices.Equal(a.NamedBy, b.NamedBy) && (a.Digest == "" || a.Digest == b.Digest)
	}) {
		return errors.New("its images are not those that its releases name")
	}
	return nil
}

func digestOf(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }

func typeOf() metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: dependencyv1alpha1.GroupVersion.String(), Kind: Kind}
}

// Manifest adds the files of a package to blobs, and returns the descriptor of its manifest. The same package gives the same
// descriptor.
func (c *Content) Manifest(blobs layout.Blobs) (v1.Descriptor, error) {
	config, err := blobs.AddJSON(ConfigType, c.Description)
	if err != nil {
		return config, err
	}
	files, err := c.Files()
	if err != nil {
		return config, err
	}
	manifest := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: config}
	for _, file := range files {
		layer, err := blobs.Add(file.mediaType, file.Content)
		if err != nil {
			return config, err
		}
		layer.Annotations = map[string]string{title: file.Name}
		manifest.Layers = append(manifest.Layers, layer)
	}
	return blobs.AddJSON(types.OCIManifestSchema1, manifest)
}

// File is a file of a package.
type File struct {
	// Name is a path with slashes.
	Name      string
	Content   []byte
	mediaType types.MediaType
}

// Files returns the wishes, the lock, and the releases by name and version.
func (c *Content) Files() ([]File, error) {
	files := []File{{WishesFile, c.Locked.Wishes, wishesType}, {LockFile, c.Locked.Lock, lockType}}
	for i := range c.Entries {
		release := &c.Entries[i].Release
		content, err := release.Bytes()
		if err != nil {
			return nil, err
		}
		files = append(files, File{release.Path(), content, releaseType})
	}
	return files, nil
}

// Read reads and checks the package of a manifest.
func Read(blobs layout.Blobs, artifact v1.Descriptor) (*Content, error) {
	raw, err := blobs.Read(artifact)
	if err != nil {
		return nil, err
	}
	manifest, err := v1.ParseManifest(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("its manifest: %w", err)
	}
	if manifest.Config.MediaType != ConfigType {
		return nil, fmt.Errorf("it is no package of add-ons: its configuration is of type %q", text.Excerpt(string(manifest.Config.MediaType)))
	}
	size := manifest.Config.Size
	for _, layer := range manifest.Layers {
		if size += layer.Size; layer.Size < 0 || size > maxSize {
			return nil, fmt.Errorf("it has more than %d bytes", maxSize)
		}
	}
	c := &Content{}
	config, err := blobs.Read(manifest.Config)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(config, &c.Description); err != nil {
		return nil, fmt.Errorf("its configuration: %w", err)
	}
	if err := c.readFiles(blobs, manifest.Layers); err != nil {
		return nil, err
	}
	return c, c.check()
}

func (c *Content) readFiles(blobs layout.Blobs, layers []v1.Descriptor) error {
	seen := map[string]bool{}
	for _, layer := range layers {
		name := layer.Annotations[title]
		if seen[name] {
			return fmt.Errorf("%q: it is there twice", text.Excerpt(name))
		}
		seen[name] = true
		if err := c.readFile(blobs, layer, name); err != nil {
			return fmt.Errorf("%q: %w", text.Excerpt(name), err)
		}
	}
	return nil
}

// readFile adds a file. It refuses a name that does not follow from the type and the content.
func (c *Content) readFile(blobs layout.Blobs, layer v1.Descriptor, name string) error {
	content, err := blobs.Read(layer)
	if err != nil {
		return err
	}
	switch {
	case layer.MediaType == wishesType && name == WishesFile:
		c.Locked.Wishes = content
	case layer.MediaType == lockType && name == LockFile:
		c.Locked.Lock = content
	case layer.MediaType == releaseType:
		entry, err := index.DecodeRelease(content)
		if err != nil {
			return err
		}
		if entry.Path() != name {
			return fmt.Errorf("%s %s belongs to %s", entry.Name, entry.Version, entry.Path())
		}
		c.Entries = append(c.Entries, entry)
	default:
		return errors.New("a package has no such file")
	}
	return nil
}
