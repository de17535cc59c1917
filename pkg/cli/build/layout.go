package build

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/index"
)

// What applies the manifests.
const (
	formatKubectl   = "kubectl"
	formatKustomize = "kustomize"
	formatArgoCD    = "argocd"
	formatFlux      = "flux"
)

var formats = []string{formatKubectl, formatKustomize, formatArgoCD, formatFlux}

// fluxFile has the Kustomizations of Flux.
const fluxFile = "flux.yaml"

// syncWave is the annotation of Argo CD for the order of objects.
const syncWave = "argocd.argoproj.io/sync-wave"

// layout is how the manifests are written.
type layout struct{ format, fluxSource, fluxPath string }

func layerOf(one *index.Planned) string { return fmt.Sprintf("%02d", one.Layer) }

func fileOf(one *index.Planned) string { return filepath.Join(layerOf(one), one.Name+".yaml") }

// files are the contents of all files, by their paths in the folder.
func (l *layout) files(planned []index.Planned) (map[string][]byte, error) {
	files := map[string][]byte{}
	var resources []string
	for i := range planned {
		one := &planned[i]
		content, err := l.manifests(one)
		if err != nil {
			return nil, err
		}
		files[fileOf(one)] = content
		resources = append(resources, filepath.ToSlash(fileOf(one)))
	}
	var err error
	switch l.format {
	case formatKustomize, formatArgoCD:
		files["kustomization.yaml"], err = yaml.Marshal(map[string]any{
			"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources,
		})
	case formatFlux:
		files[fluxFile], err = l.flux(planned)
	default:
	}
	return files, err
}

// manifests are the objects of one add-on.
func (l *layout) manifests(one *index.Planned) ([]byte, error) {
	var all [][]byte
	for _, manifest := range one.Manifests {
		object := (&unstructured.Unstructured{Object: manifest}).DeepCopy()
		if l.format == formatArgoCD {
			annotations := object.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[syncWave] = strconv.Itoa(one.Layer)
			object.SetAnnotations(annotations)
		}
		content, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		all = append(all, content)
	}
	return bytes.Join(all, []byte("---\n")), nil
}

// flux is a Kustomization for each layer, which depends on the one before.
func (l *layout) flux(planned []index.Planned) ([]byte, error) {
	layers := map[string]bool{}
	for i := range planned {
		layers[layerOf(&planned[i])] = true
	}
	var all [][]byte
	before := ""
	for _, layer := range slices.Sorted(maps.Keys(layers)) {
		name := "addons-" + layer
		spec := map[string]any{
			"interval": "10m", "prune": true, "wait": true, "path": "./" + path.Join(l.fluxPath, layer),
			"sourceRef": map[string]any{"kind": "GitRepository", "name": l.fluxSource},
		}
		if before != "" {
			spec["dependsOn"] = []any{map[string]any{"name": before}}
		}
		content, err := yaml.Marshal(map[string]any{
			"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
			"metadata": map[string]any{"name": name, "namespace": "flux-system"}, "spec": spec,
		})
		if err != nil {
			return nil, err
		}
		all, before = append(all, content), name
	}
	return bytes.Join(all, []byte("---\n")), nil
}
