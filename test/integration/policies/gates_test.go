package policies

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const gate = "dependency.addon.open-cluster-management.io/gate"

// withoutLifecycle is addon-manager in another namespace, without the permissions of deploy/lifecycle.
const withoutLifecycle = "system:serviceaccount:elsewhere:interlock-addon-manager"

// createGated creates an add-on with a gate. An empty value means no gate.
func createGated(ctx context.Context, version, value string) *unstructured.Unstructured {
	GinkgoHelper()
	addOn := install(ctx, version, "cluster1")
	if value != "" {
		Expect(admin.Patch(ctx, addOn, merge(`{"metadata":{"annotations":{"`+gate+`":"`+value+`"}}}`))).To(Succeed())
	}
	return addOn
}

func setting(value string) client.Patch {
	return merge(`{"metadata":{"annotations":{"` + gate + `":` + value + `}}}`)
}

var _ = Describe("On the gate of a ManagedClusterAddOn, addon-manager", func() {
	for _, version := range versions {
		It("opens one that is closed, and changes nothing else, through "+version, func(ctx context.Context) {
			closed := createGated(ctx, version, "closed")
			for name, patch := range map[string]string{
				"another annotation": `"annotations":{"` + gate + `":"open","annotation":"after"}`,
				"one more":           `"annotations":{"` + gate + `":"open","added":"after"}`,
				"one less":           `"annotations":{"` + gate + `":"open","annotation":null}`,
				"a label":            `"annotations":{"` + gate + `":"open"},"labels":{"label":"after"}`,
				"a finalizer":        `"annotations":{"` + gate + `":"open"},"finalizers":null`,
				"an owner": `"annotations":{"` + gate + `":"open"},` +
					`"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"n","uid":"u"}]`,
				"some value of the gate": `"annotations":{"` + gate + `":"ajar"}`,
				"no gate":                `"annotations":{"` + gate + `":null}`,
			} {
				Expect(clientOf(manager).Patch(ctx, closed.DeepCopy(), merge(`{"metadata":{`+patch+`}}`))).To(Satisfy(apierrors.IsForbidden), name)
			}
			spec := `{"metadata":{"annotations":{"` + gate + `":"open"}},"spec":{"configs":[{"group":"g","resource":"r","name":"n"}]}}`
			Expect(clientOf(manager).Patch(ctx, closed.DeepCopy(), merge(spec))).To(Satisfy(apierrors.IsForbidden))
			unchanged(ctx, closed)
			Expect(clientOf(manager).Patch(ctx, closed.DeepCopy(), setting(`"open"`))).To(Succeed())
		})

		It("closes none, and gives none to an add-on, through "+version, func(ctx context.Context) {
			for _, oldGate := range []string{"open", "", "ajar"} {
				addOn := createGated(ctx, version, oldGate)
				for _, value := range []string{`"closed"`, `"open"`} {
					if value == `"`+oldGate+`"` {
						continue // nothing would change
					}
					Expect(clientOf(manager).Patch(ctx, addOn.DeepCopy(), setting(value))).To(Satisfy(apierrors.IsForbidden), "%q to %s", oldGate, value)
				}
				unchanged(ctx, addOn)
			}
		})
	}

	It("changes Installable and Upgradable, and Available of bundles, where it may open gates", func(ctx context.Context) {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "without-lifecycle"}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{group}, Resources: []string{"managedclusteraddons/status"}, Verbs: []string{"patch"}},
		}}
		Expect(admin.Create(ctx, role)).To(Succeed())
		Expect(admin.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role.Name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: withoutLifecycle}},
		})).To(Succeed())
		addOn := createGated(ctx, "v1alpha1", "closed")
		set := func(user string, replacement map[string]any) error {
			return patchStatus(ctx, user, addOn, map[string]any{"conditions": replaceCondition(addOn, replacement["type"].(string), replacement)})
		}
		Eventually(set).WithArguments(withoutLifecycle, condition("Degraded", "True", "After")).Should(Succeed())
		for _, kind := range []string{"Installable", "Upgradable", "RegistrationApplied"} {
			Expect(set(withoutLifecycle, condition(kind, "False", "After"))).To(MatchError(ContainSubstring("may change no condition but Degraded")))
		}
		Expect(clientOf(withoutLifecycle).Patch(ctx, addOn.DeepCopy(), setting(`"open"`))).To(Satisfy(apierrors.IsForbidden))
		Expect(set(manager, condition("RegistrationApplied", "False", "After"))).To(Satisfy(apierrors.IsForbidden))
		Expect(set(manager, condition("Installable", "False", "WaitingForDependencies"))).To(Succeed())
		Expect(set(manager, condition("Upgradable", "False", "WaitingForDependencies"))).To(Succeed())

		By("Available of a bundle")
		checked := func(user, mode, status, reason string) error {
			return patchStatus(ctx, user, addOn, map[string]any{
				"healthCheck": map[string]any{"mode": mode}, "conditions": replaceCondition(addOn, "Available", condition("Available", status, reason)),
			})
		}
		for _, err := range []error{
			checked(withoutLifecycle, "Customized", "True", "BundleAvailable"), checked(manager, "Lease", "True", "BundleAvailable"),
			checked(manager, "Lease", "Unknown", "BundleUnknown"),
			checked(manager, "Customized", "True", "ManagedClusterAddOnLeaseUpdated"),
			checked(manager, "Customized", "True", "RequiredDependencyNotSatisfied"),
			set(manager, condition("Available", "True", "BundleAvailable")), // OCM's agent writes the condition in this mode
		} {
			Expect(err).To(Satisfy(apierrors.IsForbidden))
		}
		for status, reason := range map[string]string{
			"True": "BundleAvailable", "False": "RequiredDependencyNotSatisfied", "Unknown": "BundleUnknown",
		} {
			Expect(checked(manager, "Customized", status, reason)).To(Succeed(), reason)
		}
		Expect(checked(manager, "Lease", "False", "RequiredDependencyNotSatisfied")).To(Succeed(), "it gives it back while a dependency fails")
		Expect(checked(manager, "Lease", "False", "RequiredDependencyNotSatisfied")).To(Succeed(), "nothing changes")
		Expect(checked(manager, "Customized", "True", "BundleAvailable")).To(Succeed())
		Expect(checked(manager, "Lease", "Unknown", "BundleReleased")).To(Succeed(), "it gives Available back")
		Expect(checked(manager, "Lease", "False", "RequiredDependencyNotSatisfied")).To(Satisfy(apierrors.IsForbidden), "it has given it back")
	})
})
