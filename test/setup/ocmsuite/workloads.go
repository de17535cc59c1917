package ocmsuite

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// RunWorkloads makes each Deployment of an add-on on a managed cluster become available, as with nodes, until the
// suite ends.
func RunWorkloads(cluster *ocm.ManagedCluster) {
	GinkgoHelper()
	ctx, stop := context.WithCancel(context.Background())
	DeferCleanup(stop)
	Expect(appsv1.AddToScheme(cluster.Client.Scheme())).To(Succeed())
	watcher, err := cluster.Client.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace(ocm.AddOnNamespace))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(watcher.Stop)
	go func() {
		defer GinkgoRecover()
		for event := range watcher.ResultChan() {
			if event.Type != watch.Added {
				continue
			}
			const status = `{"status":{"observedGeneration":1,"replicas":1,"readyReplicas":1,"availableReplicas":1}}`
			err := cluster.Client.Status().Patch(ctx, event.Object.(*appsv1.Deployment), client.RawPatch(types.MergePatchType, []byte(status)))
			if !apierrors.IsNotFound(err) && ctx.Err() == nil {
				Expect(err).NotTo(HaveOccurred())
			}
		}
	}()
}
