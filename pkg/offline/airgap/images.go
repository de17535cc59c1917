package airgap

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"

	"open-cluster-management.io/interlock/pkg/offline/index"
)

// imagesOf returns the images that the manifests of releases name, by their references.
func imagesOf(entries []index.Entry) []Image {
	releases := map[string][]string{}
	for i := range entries {
		entry := &entries[i]
		references := map[string]bool{}
		for _, manifest := range entry.Manifests {
			addImages(manifest, references)
		}
		for reference := range references {
			releases[reference] = append(releases[reference], entry.Name+" "+entry.Version)
		}
	}
	images := []Image{}
	for _, reference := range slices.Sorted(maps.Keys(releases)) {
		image := Image{Image: reference, NamedBy: releases[reference]}
		if _, digest, ok := strings.Cut(reference, "@"); ok {
			image.Digest = digest
		}
		images = append(images, image)
	}
	return images
}

// addImages adds the images of all pods in a value. It searches in depth, because an AddOnTemplate contains whole manifests.
func addImages(value any, references map[string]bool) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			addImages(item, references)
		}
	case map[string]any:
		for key, field := range value {
			switch key {
			case "containers", "initContainers", "ephemeralContainers":
				addField(field, references, "image")
			case "volumes":
				addField(field, references, "image", "reference")
			}
			addImages(field, references)
		}
	}
}

// addField adds the field at a path in each object of a list.
func addField(list any, references map[string]bool, path ...string) {
	items, _ := list.([]any)
	for _, value := range items {
		for _, name := range path {
			object, _ := value.(map[string]any)
			value = object[name]
		}
		if reference, ok := value.(string); ok && reference != "" {
			references[reference] = true
		}
	}
}

// Variable reports whether the reference contains a variable of its AddOnTemplate. Then the manifests do not determine the image.
func (i *Image) Variable() bool { return strings.Contains(i.Image, "{{") }

// names reports whether a package names an image with the digest.
func (d *Description) names(reference, digest string) bool {
	return slices.ContainsFunc(d.Images, func(image Image) bool { return image.Image == reference && image.Digest == digest })
}

// Target returns the reference to push an image to: the path and the tag or digest of the image in its own registry, under a
// prefix, which is a registry or a repository. Mirrors of registries use the same layout.
func Target(image, prefix string) (string, error) {
	reference, err := name.ParseReference(image)
	if err != nil {
		return "", err
	}
	separator := ":"
	if _, isDigest := reference.(name.Digest); isDigest {
		separator = "@"
	}
	return prefix + "/" + reference.Context().RepositoryStr() + separator + reference.Identifier(), nil
}
