package installation

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// interlockPrefix is the prefix of the field managers of Interlock's components.
const interlockPrefix = "interlock-"

// lastApplied is the annotation of kubectl apply.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// managedAnnotations has the prefixes of annotations that OCM and Interlock manage. They do not show another owner of an
// add-on.
var managedAnnotations = []string{"addon.open-cluster-management.io/", "dependency.addon.open-cluster-management.io/"}

// fields are the fields of a field manager that show the owner of an add-on.
type fields struct {
	Spec     map[string]json.RawMessage `json:"f:spec"`
	Metadata struct {
		Labels      map[string]json.RawMessage `json:"f:labels"`
		Annotations map[string]json.RawMessage `json:"f:annotations"`
	} `json:"f:metadata"`
}

// TakenOver reports whether a ManagedClusterAddOn belongs to another writer than the installer in its InstalledByLabel, by
// its managed fields. Either the installer did not create it, or another writer than Interlock has written its spec, its
// labels, or unmanaged annotations.
func TakenOver(managed []metav1.ManagedFieldsEntry, installedBy string) bool {
	created := false
	for i := range managed {
		owned, ok := read(&managed[i])
		switch _, labeled := owned.Metadata.Labels["f:"+addonv1alpha1.InstalledByLabel]; {
		case !ok:
			return true
		case installs(managed[i].Manager, installedBy):
			created = created || labeled
		case labeled && isKubectlApply(managed[i].Manager, installedBy):
			if configures(owned) {
				return true
			}
			created = true
		case strings.HasPrefix(managed[i].Manager, interlockPrefix): // Interlock may configure an add-on that the plugin installed
		case hasOwn(owned.Spec), hasOwn(owned.Metadata.Labels), hasOwn(owned.Metadata.Annotations, managedAnnotations...):
			return true
		}
	}
	return !created
}

// installs reports whether a field manager belongs to the installer that InstalledByLabel names.
func installs(manager, installedBy string) bool {
	switch installedBy {
	case addonv1alpha1.InstalledByInterlock:
		return strings.HasPrefix(manager, interlockPrefix)
	case addonv1alpha1.InstalledByPlugin:
		return manager == addonv1alpha1.InstalledByPlugin // it writes under its own name
	}
	return false
}

// isKubectlApply reports whether a field manager is kubectl apply, which creates the add-ons of the plugin's list. GitOps
// tools create deleted add-ons again, so their add-ons belong to them.
func isKubectlApply(manager, installedBy string) bool {
	return installedBy == addonv1alpha1.InstalledByPlugin && (manager == "kubectl" || manager == "kubectl-client-side-apply")
}

// configures reports whether a field manager has written fields that the plugin's list does not have.
func configures(f fields) bool {
	for field := range f.Spec {
		if field != "." && field != "f:configs" {
			return true
		}
	}
	return hasOwn(f.Metadata.Labels, addonv1alpha1.InstalledByLabel) ||
		hasOwn(f.Metadata.Annotations, append(slices.Clone(managedAnnotations), lastApplied)...)
}

// Configured reports whether another writer than Interlock has written the configuration of a ManagedClusterAddOn.
func Configured(managed []metav1.ManagedFieldsEntry) bool {
	for i := range managed {
		owned, ok := read(&managed[i])
		if _, configures := owned.Spec["f:configs"]; !ok || configures && !strings.HasPrefix(managed[i].Manager, interlockPrefix) {
			return true
		}
	}
	return false
}

// read parses the fields of an entry. The fields of a status do not count.
func read(entry *metav1.ManagedFieldsEntry) (fields, bool) {
	if entry.Subresource != "" {
		return fields{}, true
	}
	if entry.FieldsV1 == nil {
		return fields{}, false
	}
	var parsed fields
	err := json.Unmarshal(entry.FieldsV1.Raw, &parsed)
	return parsed, err == nil
}

// hasOwn reports whether entries has a field without any of the prefixes.
func hasOwn(entries map[string]json.RawMessage, prefixes ...string) bool {
next:
	for field := range entries {
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
