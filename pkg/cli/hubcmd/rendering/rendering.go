// Package rendering renders the chart of Interlock for a hub, with values, as Helm does.
package rendering

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/cli/hubcmd/applyset"
)

// releaseName is the name that the chart's labels have. Names of objects do not depend on it.
const releaseName = "interlock"

// Options are inputs of the templates from the hub and the command.
type Options struct {
	Namespace string
	// Kubernetes is the version of the hub's API server.
	Kubernetes string
	Upgrade    bool
	// Hub is where templates look objects up. Without it, they find none.
	Hub client.Client
}

// Rendered is a chart with its objects.
type Rendered struct {
	// Objects are in the order in which Helm creates them.
	Objects []*unstructured.Unstructured
	// PreDelete has the hooks that run before the objects are deleted, in their order: a Job, and its rights.
	PreDelete []*unstructured.Unstructured
	// Notes is the text for the user.
	Notes string
	// Denied are the rights that the user lacks to look objects up.
	Denied []string
}

// Render renders a chart. An error of the chart about a value names the value.
func Render(chart *chartv2.Chart, values map[string]any, options Options) (*Rendered, error) {
	capabilities := common.DefaultCapabilities.Copy()
	if options.Kubernetes != "" {
		version, err := common.ParseKubeVersion(options.Kubernetes)
		if err != nil {
			return nil, err
		}
		capabilities.KubeVersion = *version
	}
	renderValues, err := util.ToRenderValues(chart, values, common.ReleaseOptions{
		Name: releaseName, Namespace: options.Namespace, Revision: 1, IsInstall: !options.Upgrade, IsUpgrade: options.Upgrade,
	}, capabilities)
	if err != nil {
		return nil, err
	}
	if release, ok := renderValues["Release"].(map[string]any); ok {
		release["Service"] = applyset.Tool // in labels, so that Helm does not take the objects for its own
	}
	if options.Hub == nil {
		files, err := engine.Render(chart, renderValues)
		if err != nil {
			return nil, err
		}
		return sorted(files, options.Namespace)
	}
	lookup := &hubLookup{hub: options.Hub}
	files, err := engine.RenderWithClientProvider(chart, renderValues, lookup)
	if err != nil {
		return nil, err
	}
	rendered, err := sorted(files, options.Namespace)
	if err != nil {
		return nil, err
	}
	rendered.Denied = lookup.denied
	return rendered, nil
}

// sorted separates the objects, the hooks and the notes.
func sorted(files map[string]string, namespace string) (*Rendered, error) {
	rendered := &Rendered{}
	for name, content := range files {
		if path.Base(name) == "NOTES.txt" {
			rendered.Notes = strings.TrimSpace(content)
			delete(files, name)
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, err
	}
	for _, manifest := range manifests {
		object, err := parse(manifest.Name, manifest.Content)
		if err != nil {
			return nil, err
		}
		if object != nil {
			rendered.Objects = append(rendered.Objects, object)
		}
	}
	slices.SortStableFunc(hooks, func(a, b *releasev1.Hook) int { return a.Weight - b.Weight })
	for _, hook := range hooks {
		if !slices.Contains(hook.Events, releasev1.HookPreDelete) {
			continue
		}
		object, err := parse(hook.Path, hook.Manifest)
		if err != nil {
			return nil, err
		}
		rendered.PreDelete = append(rendered.PreDelete, object)
	}
	return rendered, checkNamespaces(rendered.Objects, namespace)
}

func parse(name, content string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(content), &object.Object); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(object.Object) == 0 {
		return nil, nil //nolint:nilnil // a template that renders only comments
	}
	return object, nil
}

// checkNamespaces refuses objects in other namespaces, because a set is in one.
func checkNamespaces(objects []*unstructured.Unstructured, namespace string) error {
	for _, object := range objects {
		if object.GetNamespace() != "" && object.GetNamespace() != namespace {
			return fmt.Errorf("the chart has %s outside of the namespace %s", applyset.Describe(object), namespace)
		}
	}
	return nil
}

// IsJob reports whether an object is a Job, which runs and ends.
func IsJob(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind().GroupKind() == schema.GroupKind{Group: "batch", Kind: "Job"}
}
