package airgap

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"open-cluster-management.io/interlock/pkg/index"
)

// imagesOf finds the images that the manifests of releases name, by their references.
func imagesOf(entries []index.Entry) []Image {
	by := map[string][]string{}
	for i := range entries {
		one := &entries[i]
		found := map[string]bool{}
		for _, manifest := range one.Manifests {
			addImages(manifest, found)
		}
		for reference := range found {
			by[reference] = append(by[reference], one.Name+" "+one.Version)
		}
	}
	images := []Image{}
	for _, reference := range slices.Sorted(maps.Keys(by)) {
		one := Image{Image: reference, NamedBy: by[reference]}
		if _, digest, named := strings.Cut(reference, "@"); named {
			one.Digest = digest
		}
		images = append(images, one)
	}
	return images
}

// addImages adds the images of all pods in a value: an AddOnTemplate has whole manifests inside.
func addImages(value any, to map[string]bool) {
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			addImages(one, to)
		}
	case map[string]any:
		for key, one := range value {
			switch key {
			case "containers", "initContainers", "ephemeralContainers":
				addField(one, to, "image")
			case "volumes":
				addField(one, to, "image", "reference")
			}
			addImages(one, to)
		}
	}
}

// addField adds a field of each object of a list.
func addField(list any, to map[string]bool, path ...string) {
	objects, _ := list.([]any)
	for _, one := range objects {
		for _, name := range path {
			object, _ := one.(map[string]any)
			one = object[name]
		}
		if image, is := one.(string); is && image != "" {
			to[image] = true
		}
	}
}

// Variable reports whether the reference depends on a variable of its AddOnTemplate: it names no image by itself.
func (i *Image) Variable() bool { return strings.Contains(i.Image, "{{") }

// has reports whether a package names an image, with this digest.
func (d *Description) has(reference, digest string) bool {
	return slices.ContainsFunc(d.Images, func(one Image) bool { return one.Image == reference && one.Digest == digest })
}

// Target is where an image is pushed to: below a registry or a repository, with the path and the tag or digest that it has in
// its own registry. Mirrors of registries have images so.
func Target(image, below string) (string, error) {
	reference, err := name.ParseReference(image)
	if err != nil {
		return "", err
	}
	separator := ":"
	if _, isDigest := reference.(name.Digest); isDigest {
		separator = "@"
	}
	return below + "/" + reference.Context().RepositoryStr() + separator + reference.Identifier(), nil
}
