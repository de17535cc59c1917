package graft

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/compat/graft"
)

// absurd returns an add-on with a number that OCM's types cannot hold. If it was stored, OCM's addon manager could read no add-on.
func absurd(name, annotation string) *unstructured.Unstructured {
	GinkgoHelper()
	object := registration(storage, name)
	object.SetAnnotations(map[string]string{"example.com/padding": annotation})
	Expect(unstructured.SetNestedField(object.Object, "Placements", "spec", "installStrategy", "type")).To(Succeed())
	Expect(unstructured.SetNestedSlice(object.Object, []any{map[string]any{
		"namespace": "default", "name": "none",
		"rolloutStrategy": map[string]any{"type": "Progressive", "progressive": map[string]any{"maxConcurrency": int64(99999999999)}},
	}}, "spec", "installStrategy", "placements")).To(Succeed())
	return object
}

func listNames(ctx context.Context) []string {
	GinkgoHelper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(betaVersion)
	list.SetKind("ClusterManagementAddOnList")
	Expect(admin.List(ctx, list)).To(Succeed())
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].GetName())
	}
	return names
}

// firstEvent returns the first event on an add-on in a watch of v1beta1.
func firstEvent(ctx context.Context, name string) watch.EventType {
	GinkgoHelper()
	watchClient, err := client.NewWithWatch(hub.Config, client.Options{Scheme: admin.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(betaVersion)
	list.SetKind("ClusterManagementAddOnList")
	events, err := watchClient.Watch(ctx, list, &client.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name)})
	Expect(err).NotTo(HaveOccurred())
	defer events.Stop()
	var event watch.Event
	Eventually(events.ResultChan()).Should(Receive(&event))
	return event.Type
}

var _ = Describe("On a grafted hub, an add-on of any content", func() {
	const manyConfigs = 8000

	It("is listed, watched and deleted through v1beta1, and checked", func(ctx context.Context) {
		stock(ctx)
		serveWebhook()
		manager := manage(ctx, true)
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		Eventually(func() error { return admin.Create(ctx, absurd("absurd", ""), client.DryRunAll) }).
			Should(MatchError(ContainSubstring("maxConcurrency")), "until admission responds")

		contents := map[string]func(*unstructured.Unstructured){
			"commas": func(object *unstructured.Unstructured) {
				object.SetAnnotations(map[string]string{"example.com/padding": strings.Repeat(`","`, 51_000)})
			},
			"brackets": func(object *unstructured.Unstructured) {
				object.SetAnnotations(map[string]string{"example.com/padding": strings.Repeat("[", 101_000)})
			},
			"configs": func(object *unstructured.Unstructured) {
				configs := make([]any, manyConfigs)
				for i := range configs {
					configs[i] = map[string]any{"group": "", "resource": fmt.Sprint("r", i)}
				}
				Expect(unstructured.SetNestedSlice(object.Object, configs, "spec", "supportedConfigs")).To(Succeed())
			},
			"signs": func(object *unstructured.Unstructured) {
				Expect(unstructured.SetNestedField(object.Object, strings.Repeat("<", 200_000), "spec", "addOnMeta", "description")).To(Succeed())
			},
		}
		for name, content := range contents {
			By(name)
			register(ctx, storage, name, content)
			Expect(listNames(ctx)).To(ContainElement(name))
			Expect(firstEvent(ctx, name)).To(Equal(watch.Added))
			Expect(dependencies(ctx, betaVersion, name)()).To(Equal(declaredDependencies))
			Expect(annotation(ctx, name)).NotTo(BeEmpty(), "a record")
			Expect(admin.Patch(ctx, registration(betaVersion, name), merge(`{"metadata":{"labels":{"written":"through"}}}`))).To(Succeed())
			Expect(dependencies(ctx, storage, name)()).To(Equal(declaredDependencies))
		}
		configs, _, err := unstructured.NestedSlice(readBeta(ctx, "configs").Object, "spec", "defaultConfigs")
		Expect(err).NotTo(HaveOccurred())
		Expect(configs).To(HaveLen(manyConfigs))
		for name := range contents {
			Expect(admin.Delete(ctx, registration(betaVersion, name))).To(Succeed())
		}

		By("denied requests, with any other content")
		for _, padding := range []string{"", strings.Repeat(`","`, 51_000), strings.Repeat("[", 101_000), strings.Repeat("<", 250_000)} {
			Expect(admin.Create(ctx, absurd("absurd", padding))).To(MatchError(And(
				ContainSubstring("denied the request"), ContainSubstring(`"absurd"`),
				ContainSubstring("maxConcurrency"), ContainSubstring("99999999999"),
			)))
		}
		register(ctx, storage, "large")
		largePatch := merge(`{"spec":{"addOnMeta":{"description":"` + strings.Repeat("<", 2_000_000) + `"}}}`) // 12 MB in a review
		Expect(admin.Patch(ctx, registration(betaVersion, "large"), largePatch)).To(MatchError(And(
			ContainSubstring("denied the request"), ContainSubstring("the request is too large: at most 7340032 bytes are read"),
		)))
		Expect(listNames(ctx)).NotTo(ContainElement("absurd"))
		Expect(manager.state()).To(Equal(metricState(graft.ReasonGrafted, 1)))
	})
})
