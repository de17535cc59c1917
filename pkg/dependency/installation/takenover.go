package installation

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// ours begins the names of the field managers of Interlock's components.
const ours = "interlock-"

// lastApplied is the annotation of kubectl apply.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// kept are the prefixes of annotations that do not make an add-on another writer's: Open Cluster Management and Interlock keep them.
var kept = []string{"addon.open-cluster-management.io/", "dependency.addon.open-cluster-management.io/"}

// fields are those of a field manager, as far as they show who an add-on belongs to.
type fields struct {
	Spec     map[string]json.RawMessage `json:"f:spec"`
	Metadata struct {
		Labels      map[string]json.RawMessage `json:"f:labels"`
		Annotations map[string]json.RawMessage `json:"f:annotations"`
	} `json:"f:metadata"`
}

// TakenOver reports whether a ManagedClusterAddOn belongs to another writer than the one that its InstalledByLabel names, by its managed
// fields: that one has not created it, or another writer than Interlock has written of its spec, its labels, or annotations of its own.
func TakenOver(managed []metav1.ManagedFieldsEntry, installedBy string) bool {
	created := false
	for i := range managed {
		of, ok := read(&managed[i])
		switch _, labeled := of.Metadata.Labels["f:"+addonv1alpha1.InstalledByLabel]; {
		case !ok:
			return true
		case installs(managed[i].Manager, installedBy):
			created = created || labeled
		case labeled && isKubectlApply(managed[i].Manager, installedBy):
			if configures(of) {
				return true
			}
			created = true
		case strings.HasPrefix(managed[i].Manager, ours): // what the plugin has installed, Interlock may configure
		case hasOwn(of.Spec), hasOwn(of.Metadata.Labels), hasOwn(of.Metadata.Annotations, kept...):
			return true
		}
	}
	return !created
}

// installs reports whether a field manager is that of the installer that InstalledByLabel names.
func installs(manager, installedBy string) bool {
	switch installedBy {
	case addonv1alpha1.InstalledByInterlock:
		return strings.HasPrefix(manager, ours)
	case addonv1alpha1.InstalledByPlugin:
		return manager == addonv1alpha1.InstalledByPlugin // it writes under its name
	}
	return false
}

// isKubectlApply reports whether a field manager is that of kubectl apply, which creates the add-ons of the plugin's list. GitOps tools create them
// again, so what these have created is theirs.
func isKubectlApply(manager, installedBy string) bool {
	return installedBy == addonv1alpha1.InstalledByPlugin && (manager == "kubectl" || manager == "kubectl-client-side-apply")
}

// configures reports whether a field manager has written more than the plugin's list has.
func configures(of fields) bool {
	for field := range of.Spec {
		if field != "." && field != "f:configs" {
			return true
		}
	}
	return hasOwn(of.Metadata.Labels, addonv1alpha1.InstalledByLabel) ||
		hasOwn(of.Metadata.Annotations, append(slices.Clone(kept), lastApplied)...)
}

// Configured reports whether another writer than Interlock has written the configuration of a ManagedClusterAddOn.
func Configured(managed []metav1.ManagedFieldsEntry) bool {
	for i := range managed {
		of, ok := read(&managed[i])
		if _, configures := of.Spec["f:configs"]; !ok || configures && !strings.HasPrefix(managed[i].Manager, ours) {
			return true
		}
	}
	return false
}

// read reads the fields of an entry; none of those of a status.
func read(entry *metav1.ManagedFieldsEntry) (of fields, ok bool) {
	if entry.Subresource != "" {
		return fields{}, true
	}
	if entry.FieldsV1 == nil {
		return fields{}, false
	}
	err := json.Unmarshal(entry.FieldsV1.Raw, &of)
	return of, err == nil
}

// hasOwn reports whether there is a field within, but for those with one of the prefixes.
func hasOwn(within map[string]json.RawMessage, prefixes ...string) bool {
next:
	for field := range within {
		for _, prefix := range prefixes {
			if strings.HasPrefix(field, "f:"+prefix) {
				continue next
			}
		}
		if field != "." { // the map itself
			return true
		}
	}
	return false
}
