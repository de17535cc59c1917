package uninstall

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/names"
)

// withInstalled is a hub on which Interlock, the plugin and a user have installed add-ons. Users have changed some of Interlock's, and
// an earlier Interlock has installed one.
func withInstalled(t *testing.T, namespaceOf string, fails *error) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(addonv1alpha1.AddToScheme(scheme), dependencyv1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
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
	create := func(object client.Object, by string) {
		if err := hub.Create(t.Context(), object, client.FieldOwner(by)); err != nil {
			t.Fatal(err)
		}
	}
	installed := map[string]string{
		"ours": "interlock", "taken": "interlock", "configured": "interlock", "another": "interlock", "earlier": "interlock",
		"plugin": "kubectl-addon", "theirs": "",
	}
	for name, by := range installed {
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}}
		if by != "" {
			addOn.Labels = map[string]string{addonv1alpha1.InstalledByLabel: by}
		}
		addOn.UID, addOn.Generation = types.UID(name), map[string]int64{"configured": 2}[name]
		create(addOn, names.AddonManager)
		if by == addonv1alpha1.InstalledByInterlock && name != "earlier" {
			stored := &dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}}
			stored.Status = dependencyv1alpha1.AddOnInstallationStatus{UID: addOn.UID, Generation: 1}
			if name == "another" {
				stored.Status.UID = "deleted"
			}
			create(stored, names.AddonManager)
		}
	}
	taken := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "taken"}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"team": "gateway"}}}`))
	if err := hub.Patch(t.Context(), taken, patch, client.FieldOwner("kubectl")); err != nil {
		t.Fatal(err)
	}
	create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: addonv1alpha1.InstallNamespace, Labels: map[string]string{names.ManagedBy: namespaceOf},
	}}, "x")
	return hub
}

// left are the add-ons, AddOnInstallations, and whether there is a namespace for Placements. Those that are still Interlock's have a mark.
func left(t *testing.T, hub client.Client) (all []string) {
	t.Helper()
	var addOns addonv1alpha1.ManagedClusterAddOnList
	var namespaces corev1.NamespaceList
	var stored dependencyv1alpha1.AddOnInstallationList
	if err := errors.Join(hub.List(t.Context(), &addOns), hub.List(t.Context(), &namespaces), hub.List(t.Context(), &stored)); err != nil {
		t.Fatal(err)
	}
	for _, addOn := range addOns.Items {
		if addOn.Labels[addonv1alpha1.InstalledByLabel] == addonv1alpha1.InstalledByInterlock {
			addOn.Name += "!"
		}
		all = append(all, addOn.Name)
	}
	for _, one := range stored.Items {
		all = append(all, one.Name+"?")
	}
	for _, namespace := range namespaces.Items {
		all = append(all, namespace.Name)
	}
	return all
}

func TestWhatWasInstalled(t *testing.T) {
	const placements = addonv1alpha1.InstallNamespace
	kept := []string{"another", "configured", "earlier", "ours", "plugin", "taken", "theirs", placements}
	handedOver := []string{"another", "configured", "earlier", "plugin", "taken", "theirs"}
	for name, test := range map[string]struct {
		installed, namespaceOf string
		want                   []string
		done                   string
	}{
		"is handed over": {
			Keep, names.AddonManager, kept, "5 ManagedClusterAddOns stay",
		},
		"by default": {
			"", names.AddonManager, kept, "5 ManagedClusterAddOns stay",
		},
		"is removed": {
			Remove, names.AddonManager, handedOver, "1 ManagedClusterAddOns deleted, 4 handed over",
		},
		"in a namespace of others": {
			Remove, "another", append(slices.Clone(handedOver), placements),
			"1 ManagedClusterAddOns deleted, 4 handed over",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var fails error
			hub := withInstalled(t, test.namespaceOf, &fails)
			u := &uninstallation{hub: hub, options: Options{Out: &bytes.Buffer{}, Installed: test.installed}}
			for _, want := range []string{test.done, "0 ManagedClusterAddOns"} { // it can be repeated
				if done, err := u.settleInstalled(t.Context()); err != nil || !strings.HasPrefix(done, want) {
					t.Fatalf("%q, %v", done, err)
				}
				if got := left(t, hub); !slices.Equal(got, test.want) {
					t.Errorf("left %v, want %v", got, test.want)
				}
			}
		})
	}
	fails := errors.New("away")
	u := &uninstallation{hub: withInstalled(t, names.AddonManager, &fails), options: Options{Out: &bytes.Buffer{}, Installed: Remove}}
	if _, err := u.settleInstalled(t.Context()); !errors.Is(err, fails) {
		t.Errorf("error %v", err)
	}
}
