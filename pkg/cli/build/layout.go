package build

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/offline/index"
)

// The programs that apply the manifests.
const (
	formatKubectl   = "kubectl"
	formatKustomize = "kustomize"
	formatArgoCD    = "argocd"
	formatFlux      = "flux"
)

var formats = []string{formatKubectl, formatKustomize, formatArgoCD, formatFlux}

// kustomizationFile has the paths of all files, for kustomize and Argo CD.
const kustomizationFile = "kustomization.yaml"

// fluxFile has the Kustomizations of Flux.
const fluxFile = "flux.yaml"

// syncWave is the annotation of Argo CD for the order of objects.
const syncWave = "argocd.argoproj.io/sync-wave"

// layout is the layout of a folder of manifests.
type layout struct{ format, fluxSource, fluxPath string }

// layerNames returns the names of the folders of layers. All have the same length, so that they sort in the order of the layers.
func layerNames(plan []index.Planned) []string {
	last := 0
	for i := range plan {
		last = max(last, plan[i].Layer)
	}
	width := max(minLayerWidth, len(strconv.Itoa(last)))
	names := make([]string, last+1)
	for layer := range names {
		names[layer] = fmt.Sprintf("%0*d", width, layer)
	}
	return names
}

// minLayerWidth is the minimum number of digits in the name of a layer.
const minLayerWidth = 2

// filesOf returns the paths of the files of all add-ons, in the order of the plan.
func filesOf(plan []index.Planned) []string {
	layers := layerNames(plan)
	files := make([]string, 0, len(plan))
	for i := range plan {
		files = append(files, filepath.Join(layers[plan[i].Layer], fileName(plan[i].Name)))
	}
	return files
}

// extension is the extension of the files of add-ons.
const extension = ".yaml"

// maxFileName is the maximum length of a file name on common file systems, in bytes.
const maxFileName = 255

// fileName returns the name of an add-on's file. A name of the full length that Kubernetes allows leaves no room for the extension, so
// its end is replaced by a digest.
func fileName(addOn string) string {
	if len(addOn)+len(extension) <= maxFileName {
		return addOn + extension
	}
	digest := fmt.Sprintf("-%x", sha256.Sum256([]byte(addOn)))[:17]
	return addOn[:maxFileName-len(extension)-len(digest)] + digest + extension
}

// files returns the contents of all files, by their paths in the folder.
func (l *layout) files(plan []index.Planned) (map[string][]byte, error) {
	files := map[string][]byte{}
	var resources []string
	for i, file := range filesOf(plan) {
		content, err := l.manifests(&plan[i])
		if err != nil {
			return nil, err
		}
		files[file] = content
		resources = append(resources, filepath.ToSlash(file))
	}
	var err error
	switch l.format {
	case formatKustomize, formatArgoCD:
		files[kustomizationFile], err = yaml.Marshal(map[string]any{
			"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources,
		})
	case formatFlux:
		files[fluxFile], err = l.flux(plan)
	default:
	}
	return files, err
}

// manifests returns the objects of an add-on as YAML.
func (l *layout) manifests(addOn *index.Planned) ([]byte, error) {
	var documents [][]byte
	for _, manifest := range addOn.Manifests {
		object := (&unstructured.Unstructured{Object: manifest}).DeepCopy()
		if l.format == formatArgoCD {
			annotations := object.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[syncWave] = strconv.Itoa(addOn.Layer)
			object.SetAnnotations(annotations)
		}
		content, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		documents = append(documents, content)
	}
	return bytes.Join(documents, []byte("---\n")), nil
}

// flux returns a Kustomization of Flux for each layer. It depends on the Kustomization of the preceding layer.
func (l *layout) flux(plan []index.Planned) ([]byte, error) {
	used := map[string]bool{}
	names := layerNames(plan)
	for i := range plan {
		used[names[plan[i].Layer]] = true
	}
	var documents [][]byte
	preceding := ""
	for _, layer := range slices.Sorted(maps.Keys(used)) {
		name := "addons-" + layer
		spec := map[string]any{
			"interval": "10m", "prune": true, "wait": true, "path": "./" + path.Join(l.fluxPath, layer),
			"sourceRef": map[string]any{"kind": "GitRepository", "name": l.fluxSource},
		}
		if preceding != "" {
			spec["dependsOn"] = []any{map[string]any{"name": preceding}}
		}
		content, err := yaml.Marshal(map[string]any{
			"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
			"metadata": map[string]any{"name": name, "namespace": "flux-system"}, "spec": spec,
		})
		if err != nil {
			return nil, err
		}
		documents, preceding = append(documents, content), name
	}
	return bytes.Join(documents, []byte("---\n")), nil
}
