package policies

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func factsOf(cluster string) *unstructured.Unstructured {
	facts := &unstructured.Unstructured{}
	facts.SetAPIVersion("dependency." + group + "/v1alpha1")
	facts.SetKind("ManagedClusterFacts")
	facts.SetNamespace(cluster)
	facts.SetName(cluster)
	return facts
}

var _ = Describe("On ManagedClusterFacts", Ordered, func() {
	statusPatch := merge(`{"status":{"agentAddOn":"interlock-agent"}}`)

	BeforeAll(func(ctx context.Context) {
		for _, cluster := range []string{"cluster1", "cluster2"} {
			Expect(admin.Create(ctx, factsOf(cluster))).To(Succeed())
		}
	})

	It("an agent reports in the status of its own cluster, and nowhere else", func(ctx context.Context) {
		for _, user := range []string{agentUser, formerUser, tokenUser} {
			Expect(clientOf(user).Status().Patch(ctx, factsOf("cluster1"), statusPatch)).To(Succeed(), user)
			Expect(clientOf(user).Status().Patch(ctx, factsOf("cluster2"), statusPatch)).To(Satisfy(apierrors.IsForbidden), user)
		}
	})

	It("an agent requests nothing of itself", func(ctx context.Context) {
		userClient := clientOf(agentUser)
		Expect(userClient.Patch(ctx, factsOf("cluster1"), merge(`{"spec":{"apis":[{"group":"g","kind":"K"}]}}`))).
			To(Satisfy(apierrors.IsForbidden))
		Expect(userClient.Patch(ctx, factsOf("cluster1"), merge(`{"metadata":{"labels":{"a":"b"}}}`))).To(Satisfy(apierrors.IsForbidden))
		Expect(userClient.Delete(ctx, factsOf("cluster1"))).To(Satisfy(apierrors.IsForbidden))
		otherFacts := factsOf("cluster1")
		otherFacts.SetName("other")
		Expect(userClient.Create(ctx, otherFacts)).To(Satisfy(apierrors.IsForbidden))
	})
})
