package graft

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/compat/endpoint"
	"open-cluster-management.io/interlock/pkg/compat/graft"
)

// take deletes an object until the returned function creates it again, or the spec ends.
func take(ctx context.Context, object client.Object) (restore func(context.Context)) {
	GinkgoHelper()
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
	Expect(admin.Delete(ctx, object)).To(Succeed())
	object.SetResourceVersion("")
	restore = func(ctx context.Context) {
		GinkgoHelper()
		Expect(client.IgnoreAlreadyExists(admin.Create(ctx, object.DeepCopyObject().(client.Object)))).To(Succeed())
	}
	DeferCleanup(restore)
	return restore
}

var _ = Describe("An object that the conversion needs, deleted although no policy allows it", func() {
	const addOn = "bereft"
	inNamespace := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: namespace, Name: name} }
	metadata := metav1.ObjectMeta{Name: endpoint.ConfigurationName}

	grafting := func(ctx context.Context) (manager *process, kill func()) {
		GinkgoHelper()
		stock(ctx)
		kill = serveWebhook()
		manager = manage(ctx, true)
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		register(ctx, storage, addOn)
		Eventually(dependencies(ctx, betaVersion, addOn)).Should(Equal(declaredDependencies))
		return manager, kill
	}

	DescribeTable("ends the graft once connections end, and loses no declaration", func(ctx context.Context, object client.Object) {
		manager, kill := grafting(ctx)
		restore := take(ctx, object)
		kill() // the API server keeps its open connections
		serveWebhook()
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonNotServed, 1)))
		Eventually(manager.state).Should(Equal(metricState(graft.ReasonNotServed, 0)))
		Expect(annotation(ctx, addOn)).To(ContainSubstring("No credentials"))
		Eventually(func() error { return admin.Get(ctx, client.ObjectKey{Name: addOn}, registration(betaVersion, addOn)) }).Should(Succeed())
		restore(ctx)
		manager.stop() // the next attempt of this process is a minute away, but a new leader tries at once
		Eventually(manage(ctx, true).state).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		Eventually(dependencies(ctx, betaVersion, addOn)).Should(Equal(declaredDependencies))
	},
		Entry("the Service", &corev1.Service{ObjectMeta: inNamespace("interlock-webhook")}),
		Entry("the configuration that names the Service", &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metadata}),
	)

	DescribeTable("has no effect while a replica runs", func(ctx context.Context, object client.Object) {
		manager, _ := grafting(ctx)
		take(ctx, object)
		Consistently(manager.state).WithTimeout(2 * grace).Should(Equal(metricState(graft.ReasonGrafted, 1)))
		Expect(admin.Patch(ctx, registration(betaVersion, addOn), merge(`{"metadata":{"labels":{"written":"meanwhile"}}}`))).To(Succeed())
		Expect(dependencies(ctx, storage, addOn)()).To(Equal(declaredDependencies))
		register(ctx, storage, "declared-meanwhile")
		Eventually(func() string { return annotation(ctx, "declared-meanwhile") }).Should(ContainSubstring("No credentials"), "its record")
	},
		Entry("the Secret with the certificate", &corev1.Secret{ObjectMeta: inNamespace("interlock-webhook-certificate")}),
		Entry("the ConfigMap with the CA", &corev1.ConfigMap{ObjectMeta: inNamespace("interlock-webhook-ca")}),
		Entry("the configuration that has declarations recorded", &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metadata}),
	)
})
