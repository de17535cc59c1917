package webhook

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/testenv"
)

var _ = Describe("addon-manager webhook beside a stored registration that OCM's types cannot hold", func() {
	It("reads it and all others, from its cache and live", func(ctx context.Context) {
		withoutHandlers(ctx) // they would deny it
		absurd := clusterManagementAddOn(storage, "absurd", required("gateway"))
		Expect(unstructured.SetNestedSlice(absurd.Object, []any{map[string]any{
			"namespace": "default", "name": "none",
			"rolloutStrategy": map[string]any{"type": "Progressive", "progressive": map[string]any{"maxConcurrency": int64(99999999999)}},
		}}, "spec", "installStrategy", "placements")).To(Succeed())
		Expect(unstructured.SetNestedField(absurd.Object, "Placements", "spec", "installStrategy", "type")).To(Succeed())
		Eventually(func() error { return hubClient.Create(ctx, absurd.DeepCopy()) }).Should(Succeed())
		DeferCleanup(func(ctx context.Context) error { return hubClient.Delete(ctx, reference(storage, "absurd")) })

		files, address := mount(), testenv.FreeAddress().String()
		session := startWithFiles(withoutSecrets(ctx, "absurd"), address, files)
		configuration := admitBy(ctx, "absurd", balance(address), files.authority.CertPEM)
		DeferCleanup(func(ctx context.Context) error { return hubClient.Delete(ctx, configuration) })
		Eventually(func() error { // only the declaration of the other add-on makes it a cycle
			return hubClient.Create(ctx, clusterManagementAddOn(storage, "gateway", required("absurd")), client.DryRunAll)
		}).Should(MatchError(ContainSubstring("absurd → gateway → absurd")))
		listening, listener := listeningClient()
		Expect(listening.Create(ctx, clusterManagementAddOn(storage, "other", nil), client.DryRunAll)).To(Succeed())
		Expect(listener.texts()).To(BeEmpty())
		Expect(session.Err).NotTo(gbytes.Say("cannot unmarshal"))
	})
})
