package planned

import (
	"testing"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// installedBy is an add-on that the plugin or Interlock has created under a field manager.
func installedBy(name, installer, manager string) *addonv1alpha1.ManagedClusterAddOn {
	fields := `{"f:metadata": {"f:labels": {"f:` + addonv1alpha1.InstalledByLabel + `": {}}}}`
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: "c1", Name: name, Labels: map[string]string{addonv1alpha1.InstalledByLabel: installer},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: manager, FieldsV1: &metav1.FieldsV1{Raw: []byte(fields)}}},
	}}
}

func TestWhatIsTakenOver(t *testing.T) {
	applied := installedBy("applied", addonv1alpha1.InstalledByPlugin, FieldManager)
	applied.ManagedFields = append(applied.ManagedFields, metav1.ManagedFieldsEntry{
		Manager: "kubectl-edit", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec": {"f:configs": {}}}`)},
	})
	read := snapshot.New(snapshot.Content{AddOns: []*addonv1alpha1.ManagedClusterAddOn{
		installedBy("ours", addonv1alpha1.InstalledByInterlock, "interlock-addon-manager"),
		installedBy("plugins", addonv1alpha1.InstalledByPlugin, FieldManager), applied,
		{ObjectMeta: metav1.ObjectMeta{Namespace: "c1", Name: "users"}},
	}})
	hub, file := &source.Source{}, &source.Source{}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	file.AddFlags(flags)
	if err := flags.Set("from", "fleet.yaml"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		source *source.Source
		want   sets.Set[string]
	}{
		{"on a hub", hub, sets.New("applied")},
		{"a file does not have who has written what", file, sets.New[string]()},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := (&Options{Source: test.source}).cluster(t.Context(), read, "c1")
			if !got.Taken.Equal(test.want) {
				t.Errorf("taken over: %v", sets.List(got.Taken))
			}
			if !got.Owned.Equal(sets.New("ours", "plugins", "applied")) {
				t.Errorf("installed: %v", sets.List(got.Owned))
			}
		})
	}
}
