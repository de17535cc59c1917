package uninstall

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

// label is the prefix of the labels by which Interlock has add-ons installed.
const label = addonv1alpha1.InstallLabelPrefix

// withInstalled is a hub on which Interlock, the plugin and a user have installed add-ons. Users have changed some of Interlock's, and
// nothing is stored of one. Labels of the managed cluster have installed others.
func withInstalled(t *testing.T, fails *error) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(addonv1alpha1.AddToScheme(scheme), dependencyv1alpha1.AddToScheme(scheme), clusterv1.Install(scheme)); err != nil {
		t.Fatal(err)
	}
	hub := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().WithInterceptorFuncs(interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if *fails != nil {
				return *fails
			}
			return c.Delete(ctx, object, options...)
		},
	}).Build()
	create := func(object client.Object, owner string) {
		if err := hub.Create(t.Context(), object, client.FieldOwner(owner)); err != nil {
			t.Fatal(err)
		}
	}
	installed := map[string]string{
		"ours": "interlock", "taken": "interlock", "configured": "interlock", "another": "interlock", "earlier": "interlock",
		"plugin": "kubectl-addon", "theirs": "",
	}
	for name, owner := range installed {
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}}
		if owner != "" {
			addOn.Labels = map[string]string{addonv1alpha1.InstalledByLabel: owner}
		}
		addOn.UID, addOn.Generation = types.UID(name), map[string]int64{"configured": 2}[name]
		create(addOn, names.AddonManager)
		if owner == addonv1alpha1.InstalledByInterlock && name != "earlier" {
			stored := &dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}}
			stored.Status = dependencyv1alpha1.AddOnInstallationStatus{UID: addOn.UID, Generation: 1}
			if name == "another" {
				stored.Status.UID = "deleted"
			}
			create(stored, names.AddonManager)
		}
	}
	takenOver := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "taken"}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"team": "gateway"}}}`))
	if err := hub.Patch(t.Context(), takenOver, patch, client.FieldOwner("kubectl")); err != nil {
		t.Fatal(err)
	}
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster1", UID: "u"}}
	create(cluster, "x")
	for name, status := range map[string]dependencyv1alpha1.AddOnInstallationStatus{
		"placed": {ClusterUID: "u"}, "kept": {ClusterUID: "u", Phase: dependencyv1alpha1.PhaseKept}, "detached": {ClusterUID: "before"},
		"shared": {ClusterUID: "u"}, "unlabeled": {ClusterUID: "u"},
	} {
		stored := &dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}, Status: status}
		create(stored, names.AddonManager)
		if name != "unlabeled" {
			apply(t, hub, name, fleet.InstallOwner(name))
		}
	}
	apply(t, hub, "shared", "gitops")
	return hub
}

// apply has the managed cluster get the label of an add-on.
func apply(t *testing.T, hub client.Client, addOn string, owner client.FieldOwner) {
	t.Helper()
	labeled := client.ApplyConfigurationFromUnstructured(fleet.Labeled("cluster1", "u", addOn))
	if err := hub.Apply(t.Context(), labeled, owner); err != nil {
		t.Fatal(err)
	}
}

// remaining returns the add-ons, the AddOnInstallations, and the labels of the managed cluster. Add-ons that still belong
// to Interlock have a mark.
func remaining(t *testing.T, hub client.Client) (list []string) {
	t.Helper()
	var addOns addonv1alpha1.ManagedClusterAddOnList
	var stored dependencyv1alpha1.AddOnInstallationList
	var cluster clusterv1.ManagedCluster
	if err := errors.Join(hub.List(t.Context(), &addOns), hub.List(t.Context(), &stored),
		hub.Get(t.Context(), client.ObjectKey{Name: "cluster1"}, &cluster)); err != nil {
		t.Fatal(err)
	}
	for _, addOn := range addOns.Items {
		if addOn.Labels[addonv1alpha1.InstalledByLabel] == addonv1alpha1.InstalledByInterlock {
			addOn.Name += "!"
		}
		list = append(list, addOn.Name)
	}
	for _, object := range stored.Items {
		list = append(list, object.Name+"?")
	}
	for key := range cluster.Labels {
		list = append(list, strings.TrimPrefix(key, label)+"=")
	}
	slices.Sort(list)
	return list
}

func TestInstalledAddOns(t *testing.T) {
	kept := []string{"another", "configured", "earlier", "ours", "plugin", "taken", "theirs", "detached=", "kept=", "placed=", "shared="}
	removed := []string{"another", "configured", "earlier", "plugin", "taken", "theirs", "detached=", "kept=", "shared="}
	slices.Sort(kept)
	slices.Sort(removed)
	for name, test := range map[string]struct {
		installed string
		want      []string
		summary   string
	}{
		"is handed over": {Keep, kept, "5 ManagedClusterAddOns stay"},
		"by default":     {"", kept, "5 ManagedClusterAddOns stay"},
		"is removed": {
			Remove, removed, "1 ManagedClusterAddOns deleted, 4 handed over because other writers have changed them; 1 labels of ManagedClusters " +
				"withdrawn, 2 stay",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var fails error
			hub := withInstalled(t, &fails)
			u := &uninstallation{hub: hub, options: Options{Out: &bytes.Buffer{}, Installed: test.installed}}
			for _, want := range []string{test.summary, "0 ManagedClusterAddOns"} { // it can be repeated
				if summary, err := u.settleInstalled(t.Context()); err != nil || !strings.HasPrefix(summary, want) {
					t.Fatalf("%q, %v", summary, err)
				}
				if got := remaining(t, hub); !slices.Equal(got, test.want) {
					t.Errorf("left %v, want %v", got, test.want)
				}
			}
		})
	}
	fails := errors.New("away")
	u := &uninstallation{hub: withInstalled(t, &fails), options: Options{Out: &bytes.Buffer{}, Installed: Remove}}
	if _, err := u.settleInstalled(t.Context()); !errors.Is(err, fails) {
		t.Errorf("error %v", err)
	}
}
