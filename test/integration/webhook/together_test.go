package webhook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Add-ons whose reviews get a response only when both have been judged. So neither is registered while the other is reviewed.
const (
	twinA = "twin-a"
	twinB = "twin-b"
)

func judgedTogether(handler http.Handler) http.Handler {
	var reviews sync.WaitGroup
	reviews.Add(2)
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			http.Error(writer, err.Error(), http.StatusBadRequest)
			return
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
		judgment := httptest.NewRecorder()
		handler.ServeHTTP(judgment, request)
		if bytes.Contains(body, []byte(`"metadata":{"name":"twin-`)) && bytes.Contains(body, []byte(`"operation":"CREATE"`)) {
			reviews.Done()
			reviews.Wait()
		}
		_, _ = judgment.Body.WriteTo(writer) // the API server reports a missing response
	})
}

var _ = Describe("Two registrations at the same moment", func() {
	It("that close a cycle together pass admission, and evaluation marks both", func(ctx context.Context) {
		manager, err := gexec.Start(exec.Command(managerBinary, "--kubeconfig", hub.Kubeconfig(), "--leader-elect=false",
			"--metrics-bind-address=0", "--health-probe-bind-address=0"), nil, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { manager.Terminate().Wait(20 * time.Second) })

		// Whether admission misses the cycle is a matter of moments. Until it does, both registrations are deleted and created again.
		Eventually(func() error {
			answers := make(chan error, 2)
			var group sync.WaitGroup
			for name, dependency := range map[string]string{twinA: twinB, twinB: twinA} {
				group.Go(func() {
					answers <- hubClient.Create(ctx, clusterManagementAddOn(storage, name, required(dependency)))
				})
			}
			group.Wait()
			err := errors.Join(<-answers, <-answers)
			if err != nil {
				for _, name := range []string{twinA, twinB} {
					err = errors.Join(err, client.IgnoreNotFound(hubClient.Delete(ctx, reference(storage, name))))
				}
			}
			return err
		}).WithTimeout(60 * time.Second).Should(Succeed())
		for _, name := range []string{twinA, twinB} {
			DeferCleanup(hubClient.Delete, reference(storage, name))
		}

		Expect(hubClient.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}})).To(Succeed())
		for _, name := range []string{twinA, twinB} {
			addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}}
			Expect(hubClient.Create(ctx, addOn)).To(Succeed())
			Eventually(func(g Gomega) {
				g.Expect(hubClient.Get(ctx, client.ObjectKeyFromObject(addOn), addOn)).To(Succeed())
				degraded := meta.FindStatusCondition(addOn.Status.Conditions, "Degraded")
				g.Expect(degraded).NotTo(BeNil())
				g.Expect(degraded.Status).To(Equal(metav1.ConditionTrue))
				g.Expect(degraded.Reason).To(Equal(addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied))
				g.Expect(degraded.Message).To(HaveSuffix("(dependency cycle: twin-a → twin-b → twin-a)"))
			}).Should(Succeed())
		}

		By("changing one of them, which admission now sees through")
		body := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"dependencies":[{"name":"twin-b","message":"other"}]}}`))
		Eventually(func() error { return hubClient.Patch(ctx, reference(storage, twinA), body, client.DryRunAll) }).
			Should(MatchError(ContainSubstring("twin-a → twin-b → twin-a")))
	})
})
