package installation

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func entry(manager, subresource, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: subresource,
		FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)},
	}
}

func TestTakenOver(t *testing.T) {
	const label = `"f:dependency.addon.open-cluster-management.io/installed-by": {}`
	ours := entry("interlock-addon-manager", "", `{"f:metadata": {"f:labels": {".": {}, `+label+`}}, "f:spec": {}}`)
	for _, test := range []struct {
		name   string
		others []metav1.ManagedFieldsEntry
		want   bool
	}{
		{"as it was created", nil, false},
		{
			"by the status of another component",
			[]metav1.ManagedFieldsEntry{entry("registration", "status", `{"f:status": {"f:conditions": {}}}`)},
			false,
		},
		{
			"by owner references and finalizers of OCM",
			[]metav1.ManagedFieldsEntry{entry("addon", "", `{"f:metadata": {"f:ownerReferences": {}, "f:finalizers": {}}}`)},
			false,
		},
		{
			"by annotations that OCM and Interlock keep",
			[]metav1.ManagedFieldsEntry{entry("addon", "", `{"f:metadata": {"f:annotations": {".": {},
				"f:addon.open-cluster-management.io/values": {}, "f:dependency.addon.open-cluster-management.io/force": {}}}}`)},
			false,
		},
		{
			"by another component of Interlock that configures it",
			[]metav1.ManagedFieldsEntry{entry("interlock-settings", "", `{"f:spec": {"f:configs": {}}}`)},
			false,
		},
		{"by a configuration", []metav1.ManagedFieldsEntry{entry("kubectl-edit", "", `{"f:spec": {"f:configs": {}}}`)}, true},
		{"by a label", []metav1.ManagedFieldsEntry{entry("argocd", "", `{"f:metadata": {"f:labels": {"f:app": {}}}}`)}, true},
		{
			"by kubectl apply",
			[]metav1.ManagedFieldsEntry{entry("kubectl-client-side-apply", "",
				`{"f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/last-applied-configuration": {}}}}`)},
			true,
		},
		{"by one that cannot be read", []metav1.ManagedFieldsEntry{entry("x", "", `{`)}, true},
		{"by one without fields", []metav1.ManagedFieldsEntry{{Manager: "x"}}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := TakenOver(append([]metav1.ManagedFieldsEntry{ours}, test.others...), addonv1alpha1.InstalledByInterlock); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
	for name, managed := range map[string][]metav1.ManagedFieldsEntry{
		"not known":             nil,
		"restored from backups": {entry("velero", "", `{"f:metadata": {"f:labels": {`+label+`}}}`)},
		"label by another": {
			entry("interlock-addon-manager", "", `{"f:spec": {}}`), entry("x", "", `{"f:metadata": {"f:labels": {`+label+`}}}`),
		},
	} {
		if !TakenOver(managed, addonv1alpha1.InstalledByInterlock) {
			t.Errorf("%s: it is not Interlock's", name)
		}
	}
}

func TestTakenOverFromThePlugin(t *testing.T) {
	const labeled = `{"f:metadata": {"f:labels": {".": {}, "f:dependency.addon.open-cluster-management.io/installed-by": {}}}, "f:spec": {}}`
	const applied = `{"f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/last-applied-configuration": {}},
		"f:labels": {".": {}, "f:dependency.addon.open-cluster-management.io/installed-by": {}}}, "f:spec": {"f:configs": {}}}`
	created := entry("kubectl-addon", "", labeled)
	for _, test := range []struct {
		name      string
		entries   []metav1.ManagedFieldsEntry
		installer string
		want      bool
	}{
		{"as it was created", []metav1.ManagedFieldsEntry{created}, "kubectl-addon", false},
		{
			"by settings of Interlock",
			[]metav1.ManagedFieldsEntry{created, entry("interlock-settings", "", `{"f:spec": {"f:configs": {}}}`)},
			"kubectl-addon", false,
		},
		{
			"by another subcommand of kubectl",
			[]metav1.ManagedFieldsEntry{created, entry("kubectl-annotate", "", `{"f:metadata": {"f:annotations": {"f:mine": {}}}}`)},
			"kubectl-addon", true,
		},
		{"as kubectl apply has created it", []metav1.ManagedFieldsEntry{entry("kubectl-client-side-apply", "", applied)}, "kubectl-addon", false},
		{"as kubectl apply --server-side has created it", []metav1.ManagedFieldsEntry{entry("kubectl", "", labeled)}, "kubectl-addon", false},
		{
			"by kubectl apply with a label",
			[]metav1.ManagedFieldsEntry{entry("kubectl-client-side-apply", "", strings.Replace(applied, `".": {}`, `"f:mine": {}`, 1))},
			"kubectl-addon", true,
		},
		{
			"by kubectl apply with a namespace",
			[]metav1.ManagedFieldsEntry{entry("kubectl", "", strings.Replace(applied, "f:configs", "f:installNamespace", 1))},
			"kubectl-addon", true,
		},
		{"by kubectl apply of another add-on's label", []metav1.ManagedFieldsEntry{entry("kubectl", "", applied)}, "interlock", true},
		{"by GitOps, which applies the plugin's list", []metav1.ManagedFieldsEntry{entry("argocd", "", labeled)}, "kubectl-addon", true},
		{"as Interlock's", []metav1.ManagedFieldsEntry{created}, "interlock", true},
		{"as the plugin's", []metav1.ManagedFieldsEntry{entry("interlock-addon-manager", "", labeled)}, "kubectl-addon", true},
		{"by an unknown installer", []metav1.ManagedFieldsEntry{created}, "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := TakenOver(test.entries, test.installer); got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestConfigured(t *testing.T) {
	for _, test := range []struct {
		name    string
		entries metav1.ManagedFieldsEntry
		want    bool
	}{
		{"as OCM creates it", entry("addon", "", `{"f:metadata": {"f:labels": {"f:x": {}}}, "f:spec": {"f:installNamespace": {}}}`), false},
		{"by Interlock", entry("interlock-settings", "", `{"f:spec": {"f:configs": {}}}`), false},
		{"by a user", entry("kubectl-edit", "", `{"f:spec": {"f:configs": {}}}`), true},
		{"not readable", entry("x", "", `{`), true},
	} {
		if got := Configured([]metav1.ManagedFieldsEntry{test.entries}); got != test.want {
			t.Errorf("%s: got %t", test.name, got)
		}
	}
}

func FuzzTakenOver(f *testing.F) {
	f.Add(`{"f:metadata": {"f:labels": {"f:x": {}}}}`)
	f.Add(`{"f:spec": null, "f:metadata": []}`)
	f.Fuzz(func(t *testing.T, fields string) {
		// Fields of another writer never make an add-on Interlock's.
		for _, installer := range []string{addonv1alpha1.InstalledByInterlock, addonv1alpha1.InstalledByPlugin, "another"} {
			if !TakenOver([]metav1.ManagedFieldsEntry{entry("another", "", fields)}, installer) {
				t.Errorf("installed by %s: %s", installer, fields)
			}
		}
	})
}
