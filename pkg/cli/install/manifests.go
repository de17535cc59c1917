package install

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/text"
)

// List is a plan in the format of kubectl apply.
type List struct {
	metav1.TypeMeta `json:",inline"`
	// Items are in the order of the layers.
	Items []Manifest `json:"items"`
}

// Manifest is a ManagedClusterAddOn, or the AddOnDeploymentConfig with its variables. It has no fields that only the hub sets.
type Manifest struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	// Spec has the choices of the plan. All else is a default.
	Spec map[string]any `json:"spec"`
}

// Metadata is the metadata of a Manifest.
type Metadata struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
}

// Config is a reference to an AddOnTemplate or an AddOnDeploymentConfig.
type Config struct {
	Group     string `json:"group"`
	Resource  string `json:"resource"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// printManifests prints the plan as data. It prints findings and problems to standard error.
func (o *options) printManifests(plan *steps.Plan) error {
	for _, finding := range plan.Findings {
		fmt.Fprintln(o.ErrOut, text.OneLine(finding.String()))
	}
	if !plan.Feasible() {
		var errs []error
		for _, problem := range plan.Problems {
			errs = append(errs, errors.New(text.OneLine(problem.String())))
		}
		return errors.Join(append(errs, planned.Infeasible(plan, texts))...)
	}
	list := &List{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}, Items: []Manifest{}}
	for _, layer := range plan.Layers {
		list.Items = append(list.Items, o.manifests(layer)...)
	}
	if len(list.Items) == 0 {
		fmt.Fprintln(o.ErrOut, "the list is empty: there is nothing to apply, and kubectl apply -f - fails on it")
	}
	return o.Flags.Print(o.Out, list, nil)
}

// manifests returns the manifests of a layer, ordered by add-on and managed cluster. Add-ons that were installed meanwhile keep their place.
func (o *options) manifests(layer steps.Layer) (list []Manifest) {
	for _, step := range layer {
		for _, cluster := range step.Clusters {
			if !step.ByPlugin() && !step.Exists {
				continue
			}
			key := types.NamespacedName{Namespace: cluster, Name: step.AddOn}
			if config := o.variableConfig(key); config != nil {
				list = append(list, Manifest{
					APIVersion: config.GetAPIVersion(), Kind: config.GetKind(), Spec: specOf(config),
					Metadata: Metadata{Name: config.GetName(), Namespace: cluster, Labels: config.GetLabels()},
				})
			}
			list = append(list, o.manifest(key))
		}
	}
	slices.SortFunc(list, func(a, b Manifest) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Metadata.Name, b.Metadata.Name),
			strings.Compare(a.Metadata.Namespace, b.Metadata.Namespace))
	})
	return list
}

// addExisting adds the add-ons of an applied list, or of the plugin, to the clusters. So the same command prints the same list once more.
func (o *options) addExisting(ctx context.Context, clusters []steps.Cluster) error {
	var list addonv1alpha1.ManagedClusterAddOnList
	if err := o.Hub.List(ctx, &list, client.MatchingLabels{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByPlugin}); err != nil {
		return fmt.Errorf("list ManagedClusterAddOns: %w", err)
	}
	existing := map[string]sets.Set[string]{}
	for i := range list.Items {
		addOn := &list.Items[i]
		if !o.staysTheSame(addOn) {
			continue
		}
		if existing[addOn.Namespace] == nil {
			existing[addOn.Namespace] = sets.New[string]()
		}
		existing[addOn.Namespace].Insert(addOn.Name)
	}
	for i := range clusters {
		clusters[i].Again = existing[clusters[i].Name]
	}
	return nil
}

// staysTheSame reports whether kubectl apply of the manifest changes nothing of an existing add-on. It would remove fields that were applied
// before and are not in the manifest.
func (o *options) staysTheSame(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	stored, applied := addOn.Annotations[corev1.LastAppliedConfigAnnotation]
	if !applied {
		return true
	}
	var lastApplied struct {
		Metadata struct {
			Labels      map[string]string `json:"labels"`
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
		Spec map[string]json.RawMessage `json:"spec"`
	}
	var configs []Config
	if err := json.Unmarshal([]byte(stored), &lastApplied); err != nil {
		return false
	}
	manifest := o.manifest(client.ObjectKeyFromObject(addOn))
	maps.DeleteFunc(lastApplied.Metadata.Labels, func(name, _ string) bool { _, ok := manifest.Metadata.Labels[name]; return ok })
	if stored, ok := lastApplied.Spec["configs"]; ok && json.Unmarshal(stored, &configs) != nil {
		return false
	}
	delete(lastApplied.Spec, "configs")
	return len(lastApplied.Metadata.Labels)+len(lastApplied.Metadata.Annotations)+len(lastApplied.Spec) == 0 && slices.Equal(configs, o.references(client.ObjectKeyFromObject(addOn)))
}

func (o *options) manifest(addOn types.NamespacedName) Manifest {
	manifest := Manifest{
		APIVersion: addonv1alpha1.GroupVersion.String(), Kind: "ManagedClusterAddOn",
		Metadata: Metadata{
			Name: addOn.Name, Namespace: addOn.Namespace, Labels: map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByPlugin},
		},
		Spec: map[string]any{},
	}
	if references := o.references(addOn); len(references) > 0 {
		manifest.Spec["configs"] = references
	}
	return manifest
}

// references are the configurations of the manifest of an add-on.
func (o *options) references(addOn types.NamespacedName) (references []Config) {
	for _, config := range o.configs(addOn) {
		references = append(references, Config{Group: config.Group, Resource: config.Resource, Namespace: config.Namespace, Name: config.Name})
	}
	return references
}
