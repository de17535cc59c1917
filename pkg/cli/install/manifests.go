package install

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/dependency/steps"
	"open-cluster-management.io/interlock/pkg/text"
)

// List is a plan as kubectl apply reads it.
type List struct {
	metav1.TypeMeta `json:",inline"`
	// Items are in the order of the layers.
	Items []Manifest `json:"items"`
}

// Manifest is a ManagedClusterAddOn, without what only the hub sets.
type Manifest struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	Spec       Spec     `json:"spec"`
}

// Metadata is that of a Manifest.
type Metadata struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
}

// Spec is that of a Manifest: all defaults.
type Spec struct{}

// printManifests prints the plan as data. What it cannot express goes to standard error.
func (o *options) printManifests(plan *steps.Plan) error {
	for _, one := range plan.Findings {
		fmt.Fprintln(o.ErrOut, text.OneLine(one.String()))
	}
	if !plan.Feasible() {
		var errs []error
		for _, one := range plan.Problems {
			errs = append(errs, errors.New(text.OneLine(one.String())))
		}
		return errors.Join(append(errs, planned.Infeasible(plan, texts))...)
	}
	list := &List{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "List"}, Items: []Manifest{}}
	for _, layer := range plan.Layers {
		for _, step := range layer {
			for _, cluster := range step.Clusters {
				if step.ByPlugin() {
					list.Items = append(list.Items, manifest(cluster, step.AddOn))
				}
			}
		}
	}
	return o.Flags.Print(o.Out, list, nil)
}

func manifest(cluster, addOn string) Manifest {
	return Manifest{
		APIVersion: addonv1alpha1.GroupVersion.String(), Kind: "ManagedClusterAddOn",
		Metadata: Metadata{Name: addOn, Namespace: cluster, Labels: map[string]string{addonv1alpha1.InstalledByLabel: addonv1alpha1.InstalledByPlugin}},
	}
}
