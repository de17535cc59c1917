package graft

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/compat/graft"
	"open-cluster-management.io/interlock/pkg/hub/records"
	"open-cluster-management.io/interlock/pkg/names"
)

// apply returns a function that applies an author's manifest on the server, without force.
func apply(ctx context.Context, name string, dependencies []any) func() error {
	return func() error {
		manifest := registration(storage, name)
		spec := map[string]any{"addOnMeta": map[string]any{"displayName": name}}
		if dependencies != nil {
			spec["dependencies"] = dependencies
		}
		manifest.Object["spec"] = spec
		return admin.Apply(ctx, client.ApplyConfigurationFromUnstructured(manifest), client.FieldOwner("author"))
	}
}

// registerRecorded registers add-ons as their author applies them, and waits for their records.
func registerRecorded(ctx context.Context, names ...string) {
	GinkgoHelper()
	for _, name := range names {
		Eventually(apply(ctx, name, declaredDependencies)).Should(Succeed())
		DeferCleanup(func(ctx context.Context) error { return admin.Delete(ctx, registration(storage, name)) })
		Eventually(func(ctx context.Context) string { return annotation(ctx, name) }).WithContext(ctx).ShouldNot(BeEmpty())
	}
}

func recordOf(ctx context.Context, name string) func() string {
	return func() string { return annotation(ctx, name) }
}

func fieldManagers(ctx context.Context, name string) func() ([]string, error) {
	return func() ([]string, error) {
		object := registration(storage, name)
		var managers []string
		err := admin.Get(ctx, client.ObjectKeyFromObject(object), object)
		for _, owner := range object.GetManagedFields() {
			managers = append(managers, owner.Manager)
		}
		return managers, err
	}
}

var _ = Describe("The record of a declaration, on a hub of OCM's", func() {
	BeforeEach(func(ctx context.Context) {
		forgetEvents(ctx)
		stock(ctx)
	})

	It("leaves the fields that it restores to their author", func(ctx context.Context) {
		serveWebhook()
		manager := manage(ctx, true)
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		registerRecorded(ctx, "applied", "removed-early")
		manager.stop()
		stock(ctx)
		for _, name := range []string{"applied", "removed-early"} {
			Expect(admin.Patch(ctx, registration(betaVersion, name), merge(`{"metadata":{"labels":{"written":"meanwhile"}}}`))).To(Succeed())
			Expect(dependencies(ctx, storage, name)()).To(BeEmpty())
		}

		manage(ctx, true)
		for _, name := range []string{"applied", "removed-early"} {
			Eventually(dependencies(ctx, storage, name)).Should(Equal(declaredDependencies))
			Eventually(eventsOn(ctx, name)).Should(ContainElement(records.EventRestored))
			Eventually(fieldManagers(ctx, name)).ShouldNot(ContainElement(names.AddonManager))
		}

		By("the author changing them")
		changed := append([]any{map[string]any{"name": "tunnel", "type": "Required"}}, declaredDependencies...)
		Expect(apply(ctx, "applied", changed)()).To(Succeed(), "no other owner conflicts")
		Eventually(recordOf(ctx, "applied")).Should(ContainSubstring("tunnel"))

		By("the author leaving them out too early, and then setting an empty list")
		Expect(apply(ctx, "removed-early", nil)()).To(Succeed())
		Eventually(dependencies(ctx, storage, "removed-early")).Should(Equal(declaredDependencies))
		Eventually(fieldManagers(ctx, "removed-early")).ShouldNot(ContainElement(names.AddonManager))
		Expect(apply(ctx, "removed-early", nil)()).To(Succeed())
		Consistently(dependencies(ctx, storage, "removed-early")).Should(Equal(declaredDependencies))
		observer.Removed("removed-early")
		Expect(apply(ctx, "removed-early", []any{})()).To(Succeed())
		Expect(annotation(ctx, "removed-early")).To(BeEmpty())
		Expect(apply(ctx, "removed-early", nil)()).To(Succeed(), "the empty list may go")
		Consistently(dependencies(ctx, storage, "removed-early")).Should(BeEmpty())
	})

	It("follows an empty list that only the leader observes, and is reported when it is finally removed", func(ctx context.Context) {
		kill := serveWebhook()
		manager := manage(ctx, true)
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		registerRecorded(ctx, "replaced", "restored", "emptied")

		By("an empty list while the webhook is away")
		kill()
		observer.Removed("emptied")
		Expect(admin.Patch(ctx, registration(storage, "emptied"), merge(`{"spec":{"dependencies":[]}}`))).To(Succeed())
		Eventually(recordOf(ctx, "emptied")).Should(BeEmpty())

		By("the CRD losing the fields")
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonNotServed, 0)))
		for _, name := range []string{"replaced", "restored", "emptied"} {
			Expect(admin.Patch(ctx, registration(storage, name), merge(`{"metadata":{"labels":{"written":"meanwhile"}}}`))).To(Succeed())
			Eventually(dependencies(ctx, storage, name)).Should(BeEmpty())
		}

		By("a write that leaves out all annotations")
		observer.Removed("replaced")
		Expect(admin.Patch(ctx, registration(betaVersion, "replaced"), merge(`{"metadata":{"annotations":null}}`))).To(Succeed())
		Eventually(eventsOn(ctx, "replaced")).Should(ContainElement(records.EventRemoved))

		By("a backup that has a record and no field")
		backup := registration(storage, "restored")
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(backup), backup)).To(Succeed())
		backup.SetResourceVersion("")
		backup.SetUID("")
		backup.SetManagedFields(nil)
		observer.Removed("restored")
		Expect(admin.Delete(ctx, registration(storage, "restored"))).To(Succeed())
		Expect(admin.Create(ctx, backup)).To(Succeed())

		serveWebhook()
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		Eventually(dependencies(ctx, storage, "restored")).Should(Equal(declaredDependencies))
		Consistently(dependencies(ctx, storage, "emptied")).Should(BeEmpty())
	})
})
