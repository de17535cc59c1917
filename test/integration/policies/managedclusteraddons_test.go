package policies

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// limitedUser is a user, with the only condition that the user may change.
type limitedUser struct{ user, conditionType string }

var bothParts = []limitedUser{{agentUser, "Available"}, {formerUser, "Available"}, {tokenUser, "Available"}, {manager, "Degraded"}}

// patchStatus patches the status of an add-on as a user, and returns the error of the API server.
func patchStatus(ctx context.Context, user string, addOn *unstructured.Unstructured, status map[string]any) error {
	GinkgoHelper()
	patch, err := json.Marshal(map[string]any{"status": status})
	Expect(err).NotTo(HaveOccurred())
	return clientOf(user).Status().Patch(ctx, addOn.DeepCopy(), merge(string(patch)))
}

// unchanged fails if the add-on was changed. The API server records the writer of a status in managedFields also for labels and similar
// fields, which it
// does not change.
func unchanged(ctx context.Context, addOn *unstructured.Unstructured) {
	GinkgoHelper()
	object := addOn.DeepCopy()
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(addOn), object)).To(Succeed())
	original := addOn.DeepCopy()
	for _, object := range []*unstructured.Unstructured{original, object} {
		object.SetManagedFields(nil)
		object.SetResourceVersion("")
	}
	Expect(cmp.Diff(original.Object, object.Object)).To(BeEmpty())
}

// replaceCondition returns the conditions of the add-on, with one condition replaced, added, or removed.
func replaceCondition(addOn *unstructured.Unstructured, kind string, replacement map[string]any) []any {
	var conditions []any
	replaced := false
	for _, item := range addOn.Object["status"].(map[string]any)["conditions"].([]any) {
		if item.(map[string]any)["type"] != kind {
			conditions = append(conditions, item)
			continue
		}
		replaced = true
		if replacement != nil {
			conditions = append(conditions, replacement)
		}
	}
	if !replaced && replacement != nil {
		conditions = append(conditions, replacement)
	}
	return conditions
}

var _ = Describe("On a ManagedClusterAddOn", func() {
	for _, version := range versions {
		for _, part := range bothParts {
			Context(fmt.Sprintf("through %s, %s", version, part.user), func() {
				It("changes its own condition, by every kind of write", func(ctx context.Context) {
					addOn := install(ctx, version, "cluster1")
					for _, conditions := range [][]any{
						replaceCondition(addOn, part.conditionType, condition(part.conditionType, "Unknown", "After")),
						replaceCondition(addOn, part.conditionType, nil),
						replaceCondition(addOn, part.conditionType, condition(part.conditionType, "False", "Again")),
					} {
						Expect(patchStatus(ctx, part.user, addOn, map[string]any{"conditions": conditions})).To(Succeed())
					}
					Expect(admin.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)).To(Succeed())
					updated := replaceCondition(addOn, part.conditionType, condition(part.conditionType, "True", "Updated"))
					addOn.Object["status"].(map[string]any)["conditions"] = updated
					Expect(clientOf(part.user).Status().Update(ctx, addOn)).To(Succeed())
					if version == "v1beta1" {
						return // server-side apply through this version needs OCM's conversion
					}
					Expect(apply(ctx, part.user, addOn, condition(part.conditionType, "False", "Applied"))).To(Succeed())
				})

				It("changes no other condition", func(ctx context.Context) {
					addOn := install(ctx, version, "cluster1")
					for _, kind := range []string{"Available", "Degraded", "Progressing", "RegistrationApplied", "Invented"} {
						if kind == part.conditionType {
							continue
						}
						changes := [][]any{replaceCondition(addOn, kind, condition(kind, "Unknown", "After"))}
						if kind != "Invented" {
							changes = append(changes, replaceCondition(addOn, kind, nil))
						}
						for _, conditions := range changes {
							err := patchStatus(ctx, part.user, addOn, map[string]any{"conditions": conditions})
							Expect(err).To(Satisfy(apierrors.IsForbidden), kind)
						}
						if version == "v1alpha1" {
							Expect(apply(ctx, part.user, addOn, condition(kind, "Unknown", "After"))).To(Satisfy(apierrors.IsForbidden), kind)
						}
					}
					Expect(patchStatus(ctx, part.user, addOn, map[string]any{"conditions": nil})).To(Satisfy(apierrors.IsForbidden))
					Expect(patchStatus(ctx, part.user, addOn, nil)).To(Satisfy(apierrors.IsForbidden), "the whole status removed")
					unchanged(ctx, addOn)
				})

				It("changes no other field of the status", func(ctx context.Context) {
					addOn := install(ctx, version, "cluster1")
					for field, schema := range statusOf(version) {
						if field == "conditions" {
							continue
						}
						for _, value := range []any{sample(schema, "after"), nil} {
							err := patchStatus(ctx, part.user, addOn, map[string]any{field: value})
							Expect(err).To(MatchError(ContainSubstring("may change no field of the status but")), "%s: %v", field, value)
						}
					}
					unchanged(ctx, addOn)

					By("adding fields to an add-on without a status")
					Expect(admin.Status().Patch(ctx, addOn, merge(`{"status":null}`))).To(Succeed())
					for field, schema := range statusOf(version) {
						if field != "conditions" {
							err := patchStatus(ctx, part.user, addOn, map[string]any{field: sample(schema, "after")})
							Expect(err).To(Satisfy(apierrors.IsForbidden), field)
						}
					}
					unchanged(ctx, addOn)
				})

				It("changes nothing else, creates and deletes none", func(ctx context.Context) {
					addOn := install(ctx, version, "cluster1")
					for name, patch := range map[string]string{
						"spec":            `{"spec":{"configs":[{"group":"g","resource":"r","name":"n"}]}}`,
						"label":           `{"metadata":{"labels":{"label":"after"}}}`,
						"annotation":      `{"metadata":{"annotations":{"annotation":"after"}}}`,
						"finalizers":      `{"metadata":{"finalizers":["example.com/after"]}}`,
						"no finalizers":   `{"metadata":{"finalizers":null}}`,
						"ownerReferences": `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"n","uid":"u"}]}}`,
					} {
						Expect(clientOf(part.user).Patch(ctx, addOn.DeepCopy(), merge(patch))).To(Satisfy(apierrors.IsForbidden), name)
						// The API server ignores these fields in a write of the status.
						Expect(clientOf(part.user).Status().Patch(ctx, addOn.DeepCopy(), merge(patch))).To(Succeed(), name)
					}
					object := addOn.DeepCopy()
					object.SetName("created")
					object.SetResourceVersion("")
					object.SetFinalizers(nil)
					Expect(clientOf(part.user).Create(ctx, object)).To(Satisfy(apierrors.IsForbidden))
					Expect(clientOf(part.user).Delete(ctx, addOn.DeepCopy())).To(Satisfy(apierrors.IsForbidden))
					Expect(clientOf(part.user).DeleteAllOf(ctx, addOn.DeepCopy(), client.InNamespace("cluster1"))).To(Satisfy(apierrors.IsForbidden))
					unchanged(ctx, addOn)
				})
			})
		}
	}

	It("an agent changes nothing in the namespace of another cluster", func(ctx context.Context) {
		addOn := install(ctx, "v1alpha1", "cluster2")
		status := map[string]any{"conditions": replaceCondition(addOn, "Available", condition("Available", "False", "After"))}
		for _, user := range []string{agentUser, formerUser, tokenUser} {
			err := patchStatus(ctx, user, addOn, status)
			Expect(err).To(MatchError(ContainSubstring("agent of cluster cluster1 may not write in namespace cluster2")))
		}
		unchanged(ctx, addOn)
	})

	It("addon-manager stores Available only as the guard changes it", func(ctx context.Context) {
		const required = "RequiredDependencyNotSatisfied"
		addOn := install(ctx, "v1alpha1", "cluster1")
		write := func(degraded, available map[string]any) error {
			changed := addOn.DeepCopy()
			changed.Object["status"].(map[string]any)["conditions"] = replaceCondition(addOn, "Degraded", degraded)
			return patchStatus(ctx, manager, addOn, map[string]any{"conditions": replaceCondition(changed, "Available", available)})
		}
		for name, available := range map[string]map[string]any{
			"True": condition("Available", "True", required), "Unknown": condition("Available", "Unknown", required),
			"another reason": condition("Available", "False", "Another"), "none": nil,
		} {
			Expect(write(condition("Degraded", "True", required), available)).To(Satisfy(apierrors.IsForbidden), name)
		}
		Expect(write(condition("Degraded", "False", required), condition("Available", "False", required))).To(Satisfy(apierrors.IsForbidden))
		Expect(write(condition("Degraded", "True", required), condition("Available", "False", required))).To(Succeed())
	})

	It("addon-manager sends dry runs of any write, as it tests whether the guard is in force", func(ctx context.Context) {
		addOn := install(ctx, "v1alpha1", "cluster1")
		Expect(clientOf(manager).Status().Patch(ctx, addOn.DeepCopy(), merge(`{"status":{"conditions":null}}`), client.DryRunAll)).To(Succeed())
		Expect(clientOf(agentUser).Status().Patch(ctx, addOn.DeepCopy(), merge(`{"status":{"conditions":null}}`), client.DryRunAll)).
			To(Satisfy(apierrors.IsForbidden), "an agent has no such test")
		unchanged(ctx, addOn)
	})

	It("other writers are not limited", func(ctx context.Context) {
		for _, user := range unlimitedUsers {
			addOn := install(ctx, "v1beta1", "cluster1")
			Expect(patchStatus(ctx, user, addOn, map[string]any{"conditions": nil, "namespace": "after"})).To(Succeed(), user)
			Expect(clientOf(user).Patch(ctx, addOn, merge(`{"metadata":{"finalizers":null}}`))).To(Succeed(), user)
			Expect(clientOf(user).Delete(ctx, addOn)).To(Succeed(), user)
		}
	})
})

// apply writes one condition by server-side apply, as both parts do.
func apply(ctx context.Context, user string, addOn *unstructured.Unstructured, conditionFields map[string]any) error {
	configuration := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": addOn.GetAPIVersion(), "kind": addOn.GetKind(),
		"metadata": map[string]any{"namespace": addOn.GetNamespace(), "name": addOn.GetName()},
		"status":   map[string]any{"conditions": []any{conditionFields}},
	}}
	return clientOf(user).Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(configuration),
		client.FieldOwner("test"), client.ForceOwnership)
}
