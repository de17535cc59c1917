package main

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// basePrefix is the prefix of the images' names in deploy/. Overlays replace it.
const basePrefix = "quay.io/open-cluster-management/interlock-"

// writeManifests renders the objects that `kubectl apply -k` would apply, with the digests of the images.
func (o *order) writeManifests(images images) error {
	for file, manifest := range map[string]struct{ base, comment string }{
		"install.yaml": {"hub", `# Interlock %[1]s on a hub that has OCM's CRDs: kubectl apply -f install.yaml
# Made of deploy/hub at commit %[2]s.
`},
		"uninstall.yaml": {"uninstall", `# Removes what Interlock %[1]s wrote to the hub, before install.yaml is deleted:
#   kubectl apply -f uninstall.yaml
#   kubectl -n interlock-system wait --for=condition=Complete --timeout=10m job/interlock-uninstall
#   kubectl delete -f uninstall.yaml -f install.yaml
# Made of deploy/uninstall at commit %[2]s.
`},
	} {
		content, err := o.kustomized(manifest.base, images)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := o.write(file, fmt.Sprintf(manifest.comment, o.tag, o.commit.hash)+string(content)); err != nil {
			return err
		}
	}
	return nil
}

// kustomized builds an overlay of a base. It is in memory, because an overlay's paths are relative.
func (o *order) kustomized(base string, images images) ([]byte, error) {
	memory := filesys.MakeFsInMemory()
	files, err := filepath.Glob(filepath.Join(o.repository, "deploy", base, "*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := memory.WriteFile(filepath.Join("/", base, filepath.Base(file)), content); err != nil {
			return nil, err
		}
	}
	overlay := types.Kustomization{Resources: []string{"../" + base}}
	for _, img := range images {
		overlay.Images = append(overlay.Images, types.Image{
			Name: basePrefix + img.Name, NewName: img.Repository, NewTag: o.plain, Digest: img.digest,
		})
	}
	content, err := yaml.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	if err := memory.WriteFile("/overlay/kustomization.yaml", content); err != nil {
		return nil, err
	}
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, "/overlay")
	if err != nil {
		return nil, err
	}
	return built.AsYaml()
}
