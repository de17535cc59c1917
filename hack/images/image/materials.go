package image

import (
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"open-cluster-management.io/interlock/hack/images/program"
)

// materialsType is the type of a bill of materials in a registry.
const materialsType types.MediaType = "application/vnd.cyclonedx+json"

// attachMaterials pushes the bill of materials of each platform as an artifact that refers to the image of this platform, so
// that scanners find it in the registry.
func (i Image) attachMaterials(repository name.Repository, built *Built, options ...remote.Option) error {
	manifest, err := built.Index.IndexManifest()
	if err != nil {
		return err
	}
	for _, single := range manifest.Manifests {
		platform := program.Platform{System: single.Platform.OS, Architecture: single.Platform.Architecture}
		artifact, err := i.materialsArtifact(platform, built.materials[platform], single)
		if err != nil {
			return fmt.Errorf("bill of materials for %s: %w", platform, err)
		}
		digest, err := artifact.Digest()
		if err != nil {
			return fmt.Errorf("bill of materials for %s: %w", platform, err)
		}
		if err := remote.Write(repository.Digest(digest.String()), artifact, options...); err != nil {
			return fmt.Errorf("push the bill of materials for %s: %w", platform, err)
		}
	}
	return nil
}

// materialsArtifact returns an OCI artifact with one layer, which is the file of the release.
func (i Image) materialsArtifact(platform program.Platform, content []byte, subject v1.Descriptor) (v1.Image, error) {
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), materialsType)
	artifact, err := mutate.Append(base, mutate.Addendum{
		Layer:       static.NewLayer(content, materialsType),
		Annotations: map[string]string{"org.opencontainers.image.title": i.materialsFile(platform)},
	})
	if err != nil {
		return nil, err
	}
	subject.Platform = nil
	return mutate.Subject(artifact, subject).(v1.Image), nil
}

// materialsFile returns the name of the file with the bill of materials for a platform.
func (i Image) materialsFile(platform program.Platform) string {
	return fmt.Sprintf("%s_%s_%s.cdx.json", i.Name, platform.System, platform.Architecture)
}
