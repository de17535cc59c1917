package graft

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	versionutil "k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
	"open-cluster-management.io/interlock/pkg/compat/graft"
	"open-cluster-management.io/interlock/pkg/hub/records"
	"open-cluster-management.io/interlock/pkg/names"
)

// present returns the CRD as it is stored.
func present(ctx context.Context) *unstructured.Unstructured {
	GinkgoHelper()
	crd := crdKey()
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(crd), crd)).To(Succeed())
	return crd
}

func unmanaged(crd *unstructured.Unstructured) map[string]any {
	object := crd.DeepCopy()
	object.SetManagedFields(nil)
	object.SetResourceVersion("")
	object.SetGeneration(0)
	unstructured.RemoveNestedField(object.Object, "status")
	return object.Object
}

// marked returns the version that the CRD carries.
func marked(ctx context.Context) func() string {
	return func() string { return present(ctx).GetAnnotations()[names.OCMVersion] }
}

// graftVersion returns the version that a graft writes to a CRD of a version.
func graftVersion(version string) string {
	parsed := versionutil.MustParseGeneric(version)
	return parsed.WithPatch(parsed.Patch() + 1).String()
}

func isGrafted(ctx context.Context) func() bool {
	return func() bool { return crdgraft.Grafted(present(ctx).Object) }
}

// stock restores the CRD as OCM's operator writes it, and returns it. The operator overwrites every CRD that carries no version.
func stock(ctx context.Context) (content map[string]any) {
	GinkgoHelper()
	Eventually(func() error {
		crd := present(ctx)
		crd.SetAnnotations(nil)
		return admin.Update(ctx, crd)
	}).Should(Succeed())
	Expect(hub.Reconciled(ctx)).To(Succeed())
	Expect(isGrafted(ctx)()).To(BeFalse())
	return unmanaged(present(ctx))
}

const (
	storage     = "addon.open-cluster-management.io/v1alpha1"
	betaVersion = "addon.open-cluster-management.io/v1beta1"
)

var declaredDependencies = []any{map[string]any{"name": "proxy", "type": "Required", "message": "No credentials"}}

func registration(version, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(version)
	object.SetKind("ClusterManagementAddOn")
	object.SetName(name)
	return object
}

// register registers an add-on until the spec ends.
func register(ctx context.Context, version, name string, change ...func(*unstructured.Unstructured)) {
	GinkgoHelper()
	object := registration(version, name)
	for _, apply := range change {
		apply(object)
	}
	Expect(unstructured.SetNestedSlice(object.Object, declaredDependencies, "spec", "dependencies")).To(Succeed())
	create(ctx, object)
}

// registerByAnnotation registers an add-on that declares its dependencies by annotation.
func registerByAnnotation(ctx context.Context, name string) {
	GinkgoHelper()
	object := registration(storage, name)
	object.SetAnnotations(map[string]string{addonv1alpha1.DependenciesAnnotation: "[{name: proxy}]"})
	create(ctx, object)
}

func create(ctx context.Context, object *unstructured.Unstructured) {
	GinkgoHelper()
	name := object.GetName()
	Expect(unstructured.SetNestedField(object.Object, name, "spec", "addOnMeta", "displayName")).To(Succeed())
	Eventually(func() error {
		return admin.Create(ctx, object.DeepCopy(), client.FieldValidation(metav1.FieldValidationStrict))
	}).Should(Succeed())
	DeferCleanup(func(ctx context.Context) error {
		return client.IgnoreNotFound(admin.Delete(ctx, registration(storage, name)))
	})
}

func dependencies(ctx context.Context, version, name string) func() ([]any, error) {
	return func() ([]any, error) {
		object := registration(version, name)
		if err := admin.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return nil, err
		}
		dependencies, _, err := unstructured.NestedSlice(object.Object, "spec", "dependencies")
		return dependencies, err
	}
}

func installation(name string) *unstructured.Unstructured {
	addOn := &unstructured.Unstructured{}
	addOn.SetAPIVersion(storage)
	addOn.SetKind("ManagedClusterAddOn")
	addOn.SetNamespace("cluster1")
	addOn.SetName(name)
	return addOn
}

// install installs an add-on on a managed cluster until the spec ends.
func install(ctx context.Context, name string) {
	GinkgoHelper()
	addOn := installation(name)
	addOn.Object["spec"] = map[string]any{}
	Expect(admin.Create(ctx, addOn)).To(Succeed())
	DeferCleanup(func(ctx context.Context) error { return admin.Delete(ctx, installation(name)) })
}

// degraded returns status and reason of the condition Degraded.
func degraded(ctx context.Context, name string) func() (string, error) {
	return func() (string, error) {
		addOn := installation(name)
		if err := admin.Get(ctx, client.ObjectKeyFromObject(addOn), addOn); err != nil {
			return "", err
		}
		conditions, _, _ := unstructured.NestedSlice(addOn.Object, "status", "conditions")
		for _, condition := range conditions {
			if entry := condition.(map[string]any); entry["type"] == "Degraded" {
				return fmt.Sprintf("%s %s", entry["status"], entry["reason"]), nil
			}
		}
		return "", nil
	}
}

// annotation returns the record of an add-on.
func annotation(ctx context.Context, name string) string {
	GinkgoHelper()
	object := registration(storage, name)
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
	return object.GetAnnotations()[addonv1alpha1.DependenciesAnnotation]
}

func merge(body string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(body)) }

var _ = Describe("On a hub of OCM's with both versions of the API", func() {
	var stockCRD map[string]any
	var version, mark string // version of OCM, and of a graft on it

	BeforeEach(func(ctx context.Context) {
		forgetEvents(ctx)
		stockCRD = stock(ctx)
		version = marked(ctx)()
		mark = graftVersion(version)
	})

	It("grafts the CRD, which OCM's operator then leaves, and stock writers of v1beta1 lose nothing", func(ctx context.Context) {
		serveWebhook()
		manager := manage(ctx, true)
		Eventually(marked(ctx)).Should(Equal(mark))
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		Eventually(eventsOn(ctx, graft.CRDName)).Should(ContainElement(string(graft.ReasonGrafted)))

		By("OCM's operator reconciling")
		graftedCRD := present(ctx)
		Expect(hub.Reconciled(ctx)).To(Succeed())
		Expect(present(ctx).GetResourceVersion()).To(Equal(graftedCRD.GetResourceVersion()))

		startAddOnManager("by-v1alpha1", "by-v1beta1")
		By("an add-on being registered through either version")
		for _, version := range []string{storage, betaVersion} {
			_, short, _ := strings.Cut(version, "/")
			name := "by-" + short
			register(ctx, version, name, configurable(version))
			Eventually(dependencies(ctx, storage, name)).Should(Equal(declaredDependencies))
			Eventually(dependencies(ctx, betaVersion, name)).Should(Equal(declaredDependencies))

			By("OCM's addon manager and addon-framework writing its status")
			Eventually(configHash(ctx, name)).ShouldNot(BeEmpty())
			Expect(readBeta(ctx, name).GetManagedFields()).To(ContainElement(
				And(HaveField("APIVersion", betaVersion), HaveField("Subresource", "status"))), "addon-framework writes v1beta1")
			Expect(dependencies(ctx, storage, name)()).To(Equal(declaredDependencies))

			By("others writing all else through v1beta1")
			for _, body := range []string{
				`{"metadata":{"labels":{"a":"b"}}}`,
				`{"spec":{"addOnMeta":{"description":"changed"}}}`,
			} {
				Expect(admin.Patch(ctx, registration(betaVersion, name), merge(body))).To(Succeed())
			}
			Expect(dependencies(ctx, storage, name)()).To(Equal(declaredDependencies))
			Expect(dependencies(ctx, betaVersion, name)()).To(Equal(declaredDependencies))
		}

		By("addon-manager stopping: the graft stays")
		manager.stop()
		Consistently(isGrafted(ctx)).Should(BeTrue())

		By("addon-manager starting with grafting off")
		ungrafting := manage(ctx, false)
		Eventually(isGrafted(ctx)).Should(BeFalse())
		Expect(unmanaged(present(ctx))).To(Equal(stockCRD))
		Eventually(ungrafting.state).Should(Equal(metricState(graft.ReasonOff, 0)))
		Expect(hub.Reconciled(ctx)).To(Succeed())
		Expect(unmanaged(present(ctx))).To(Equal(stockCRD), "the operator finds the CRD as it wrote it")
	})

	It("grafts the CRD again after an upgrade of OCM, and restores the upgraded CRD", func(ctx context.Context) {
		serveWebhook()
		manage(ctx, true)
		Eventually(marked(ctx)).Should(Equal(mark))
		register(ctx, storage, "upgraded")

		newVersion := versionutil.MustParseGeneric(version)
		newVersion = newVersion.WithMinor(newVersion.Minor() + 1)
		operator, err := hub.StampOperator(ctx, newVersion)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(hub.ReplaceOperator, "")
		Expect(hub.ReplaceOperator(ctx, operator)).To(Succeed())
		Eventually(marked(ctx)).Should(Equal(graftVersion(newVersion.String())))
		Expect(hub.Reconciled(ctx)).To(Succeed())
		Eventually(dependencies(ctx, betaVersion, "upgraded")).Should(Equal(declaredDependencies))
		Expect(marked(ctx)()).To(Equal(graftVersion(newVersion.String())))

		By("the older operator coming back")
		Expect(hub.ReplaceOperator(ctx, "")).To(Succeed())
		Expect(hub.Reconciled(ctx)).To(Succeed())
		Expect(marked(ctx)()).To(Equal(graftVersion(newVersion.String())))

		changed, err := graft.Restore(ctx, admin)
		Expect(err).NotTo(HaveOccurred())
		Expect(changed).To(BeTrue())
		Eventually(marked(ctx)).Should(Equal(graftVersion(newVersion.String())), "the addon-manager that still runs grafts again")
	})

	It("grafts only once the webhook converts", func(ctx context.Context) {
		manager := manage(ctx, true)
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonNotServed, 0)))
		Eventually(eventsOn(ctx, graft.CRDName)).Should(ContainElement(string(graft.ReasonNotServed)))
		Consistently(isGrafted(ctx)).Should(BeFalse())
		Expect(unmanaged(present(ctx))).To(Equal(stockCRD))

		serveWebhook()
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
	})

	It("survives the death of all replicas, and recovers when they are back", func(ctx context.Context) {
		kill := serveWebhook()
		manager := manage(ctx, true)
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		register(ctx, storage, "patient")
		Eventually(dependencies(ctx, betaVersion, "patient")).Should(Equal(declaredDependencies))
		install(ctx, "patient")
		Eventually(degraded(ctx, "patient")).Should(Equal("True RequiredDependencyNotSatisfied"))

		kill()
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonNotServed, 1)))
		Expect(dependencies(ctx, storage, "patient")()).To(Equal(declaredDependencies))
		Expect(admin.Patch(ctx, registration(storage, "patient"), merge(`{"metadata":{"labels":{"written":"meanwhile"}}}`))).To(Succeed())
		install(ctx, "written-meanwhile")
		Expect(admin.Status().Patch(ctx, installation("patient"), merge(`{"status":{"registrations":null}}`))).To(Succeed())

		By("the grace period ending")
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonNotServed, 0)))
		Expect(unmanaged(present(ctx))).To(Equal(stockCRD))
		Eventually(func() error {
			object := registration(betaVersion, "patient")
			return admin.Get(ctx, client.ObjectKeyFromObject(object), object)
		}).Should(Succeed())

		By("the record counting meanwhile, while a write through v1beta1 deletes the field")
		Expect(dependencies(ctx, storage, "patient")()).To(BeEmpty())
		Expect(admin.Status().Patch(ctx, registration(betaVersion, "patient"), merge(`{"status":{"installProgressions":[]}}`))).To(Succeed())
		Expect(admin.Patch(ctx, registration(betaVersion, "patient"), merge(`{"metadata":{"labels":{"written":"again"}}}`))).To(Succeed())
		Consistently(degraded(ctx, "patient")).Should(Equal("True RequiredDependencyNotSatisfied"))
		nextManager := manager
		nextManager.stop()
		nextManager = manage(ctx, true)
		install(ctx, "another")
		registerByAnnotation(ctx, "another")
		Eventually(degraded(ctx, "another")).Should(Equal("True RequiredDependencyNotSatisfied"))
		Consistently(degraded(ctx, "patient")).Should(Equal("True RequiredDependencyNotSatisfied"), "a new leader knows the record")

		By("a replica coming back")
		serveWebhook()
		Eventually(nextManager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		Eventually(dependencies(ctx, storage, "patient")).Should(Equal(declaredDependencies))
		Eventually(dependencies(ctx, betaVersion, "patient")).Should(Equal(declaredDependencies))
		Eventually(eventsOn(ctx, "patient")).Should(ContainElement(records.EventRestored))
		Expect(degraded(ctx, "patient")()).To(Equal("True RequiredDependencyNotSatisfied"))
	})

	It("restores the CRD when the webhook responds to addon-manager but not to the API server", func(ctx context.Context) {
		service := &corev1.Service{}
		Expect(admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "interlock-webhook"}, service)).To(Succeed())
		misdirected := service.DeepCopy()
		misdirected.Spec.ExternalName = "nowhere.invalid"
		Expect(admin.Patch(ctx, misdirected, client.MergeFrom(service))).To(Succeed())
		DeferCleanup(func(ctx context.Context) error {
			return admin.Patch(ctx, misdirected, merge(`{"spec":{"externalName":"localhost"}}`))
		})
		object := registration(storage, "astray")
		Expect(unstructured.SetNestedField(object.Object, "x", "spec", "addOnMeta", "displayName")).To(Succeed())
		Expect(admin.Create(ctx, object)).To(Succeed())
		DeferCleanup(func(ctx context.Context) error { return admin.Delete(ctx, registration(storage, "astray")) })

		serveWebhook()
		manager := manage(ctx, true)
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonNotServed, 1)))
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonNotServed, 0)))
		Expect(unmanaged(present(ctx))).To(Equal(stockCRD))
		Consistently(isGrafted(ctx)).Should(BeFalse(), "the next try is not at once")
	})

	It("considers a field removed once all writers could see it", func(ctx context.Context) {
		serveWebhook()
		manager := manage(ctx, true)
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		Eventually(func(ctx context.Context) string { // until admission responds
			register(ctx, storage, "removed")
			text := annotation(ctx, "removed")
			if text == "" {
				Expect(admin.Delete(ctx, registration(storage, "removed"))).To(Succeed())
			}
			return text
		}).WithContext(ctx).Should(Equal(`{"dependencies":[{"message":"No credentials","name":"proxy","type":"Required"}]}`))
		remove := func() error {
			return admin.Patch(ctx, registration(betaVersion, "removed"), merge(`{"spec":{"dependencies":null}}`))
		}

		By("a writer that read the add-on before the graft")
		Expect(remove()).To(Succeed())
		Eventually(dependencies(ctx, storage, "removed")).Should(Equal(declaredDependencies))
		Eventually(eventsOn(ctx, "removed")).Should(ContainElement(records.EventRestored))

		By("its author, later")
		observer.Removed("removed")
		laterRemovals := merge(`{"metadata":{"annotations":{"` + crdgraft.RemovalsAnnotation + `":"2026-01-02T03:04:05Z"}}}`)
		Expect(admin.Patch(ctx, crdKey(), laterRemovals)).To(Succeed())
		Expect(remove()).To(Succeed())
		Expect(annotation(ctx, "removed")).To(BeEmpty())
		Consistently(dependencies(ctx, storage, "removed")).Should(BeEmpty())
	})

	It("refuses to restore the CRD while a declaration would be lost", func(ctx context.Context) {
		kill := serveWebhook()
		manager := manage(ctx, true)
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		register(ctx, storage, "ambiguous", func(object *unstructured.Unstructured) {
			object.SetAnnotations(map[string]string{addonv1alpha1.DependenciesAnnotation: "[{name: other}]"})
		})
		register(ctx, storage, "unrecorded")
		Eventually(func(ctx context.Context) string { return annotation(ctx, "unrecorded") }).WithContext(ctx).ShouldNot(BeEmpty())
		manager.stop()

		ungrafting := manage(ctx, false)
		Eventually(ungrafting.state).Should(Equal(metricState(graft.ReasonRecordsMissing, 1)))
		Eventually(eventsOn(ctx, graft.CRDName)).Should(ContainElement(string(graft.ReasonRecordsMissing)))
		Expect(isGrafted(ctx)()).To(BeTrue())
		Expect(records.Require(ctx, admin)).To(MatchError(And(ContainSubstring("ambiguous"), Not(ContainSubstring("unrecorded")))))

		By("the author deciding which of the two counts")
		observer.Removed("ambiguous") // the declaration of the annotation is removed
		field := merge(`{"metadata":{"annotations":{"` + addonv1alpha1.DependenciesAnnotation + `":null}}}`)
		Expect(admin.Patch(ctx, registration(storage, "ambiguous"), field)).To(Succeed())
		Eventually(ungrafting.state).Should(Equal(metricState(graft.ReasonOff, 0)))
		Expect(unmanaged(present(ctx))).To(Equal(stockCRD))
		kill()

		By("grafting being turned on again")
		for _, name := range []string{"ambiguous", "unrecorded"} {
			Expect(admin.Status().Patch(ctx, registration(betaVersion, name), merge(`{"status":{"installProgressions":[]}}`))).To(Succeed())
			Expect(dependencies(ctx, storage, name)()).To(BeEmpty())
		}
		ungrafting.stop()
		serveWebhook()
		manage(ctx, true)
		for _, name := range []string{"ambiguous", "unrecorded"} {
			Eventually(dependencies(ctx, betaVersion, name)).Should(Equal(declaredDependencies))
		}
	})

	It("follows a new CA without failing a request for long", func(ctx context.Context) {
		serveWebhook()
		manager := manage(ctx, true)
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		register(ctx, storage, "rotated")
		authorityBefore, _, _ := unstructured.NestedString(present(ctx).Object, "spec", "conversion", "webhook", "clientConfig", "caBundle")
		secret := &corev1.Secret{}
		secret.Namespace, secret.Name = namespace, "interlock-webhook-certificate"
		Expect(admin.Patch(ctx, secret, merge(`{"data":null}`))).To(Succeed())
		Eventually(func() string {
			authority, _, _ := unstructured.NestedString(present(ctx).Object, "spec", "conversion", "webhook", "clientConfig", "caBundle")
			return authority
		}).Should(And(Not(Equal(authorityBefore)), Not(BeEmpty())))
		Eventually(dependencies(ctx, betaVersion, "rotated")).Should(Equal(declaredDependencies))
		Consistently(dependencies(ctx, betaVersion, "rotated")).Should(Equal(declaredDependencies))
		Expect(manager.contested()).To(BeZero())
	})

	It("grafts again at growing intervals while another writer keeps overwriting the CRD", func(ctx context.Context) {
		serveWebhook()
		manager := manage(ctx, true)
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		overwrote := insist(stockCRD)
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonContested, 0)))
		Eventually(manager.contested).Should(BeNumerically(">=", 1))
		Eventually(eventsOn(ctx, graft.CRDName)).Should(ContainElement(string(graft.ReasonContested)))
		start := overwrote()
		Consistently(overwrote).WithTimeout(3 * time.Second).Should(BeNumerically("<=", start+2))
	})
})
