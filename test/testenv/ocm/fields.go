package ocm

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/manifests"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
)

const (
	graftedCRD     = "clustermanagementaddons.addon.open-cluster-management.io"
	graftedCRDFile = "crds/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml"
	ownCRDFile     = "crds/0000_02_dependency.addon.open-cluster-management.io_%s.crd.yaml"
)

// addInterlock adds Interlock's fields to OCM's CRD of ClusterManagementAddOns,
// and Interlock's own CRDs to the others.
func addInterlock(crds []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	graftedFields, err := interlockCRD(graftedCRDFile)
	if err != nil {
		return nil, err
	}
	properties, err := crdgraft.SpecProperties(graftedFields, addonv1alpha1.GroupVersion.Version, addonv1alpha1.GraftedSpecFields()...)
	if err != nil {
		return nil, err
	}
	for _, crd := range crds {
		if crd.GetName() != graftedCRD {
			continue
		}
		if crd.Object, err = crdgraft.AddFields(crd.Object, properties); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"managedclusterfacts", "addondependencyreports", "addonfleetreports", "addondependencypolicies", "addoninstallations"} {
		crd, err := interlockCRD(fmt.Sprintf(ownCRDFile, name))
		if err != nil {
			return nil, err
		}
		crds = append(crds, &unstructured.Unstructured{Object: crd})
	}
	return crds, nil
}

func interlockCRD(file string) (map[string]any, error) {
	raw, err := manifests.CRDs.ReadFile(file)
	if err != nil {
		return nil, err
	}
	encoded, err := yaml.YAMLToJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("manifests/%s: %w", file, err)
	}
	crd := map[string]any{}
	return crd, json.Unmarshal(encoded, &crd) // whole numbers stay whole
}
