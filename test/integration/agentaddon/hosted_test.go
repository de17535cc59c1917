package agentaddon

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cluster1Objects returns the names of objects on cluster1, and in its namespace on the hub.
func cluster1Objects(ctx context.Context) []string {
	GinkgoHelper()
	cluster := administrator(managed["cluster1"].Cluster)
	var names []string
	for list, reader := range map[client.ObjectList]client.Client{
		&workv1.ManifestWorkList{}: hub, &appsv1.DeploymentList{}: cluster, &corev1.SecretList{}: cluster, &corev1.ServiceAccountList{}: cluster,
	} {
		var options []client.ListOption
		if reader == client.Client(hub) {
			options = append(options, client.InNamespace("cluster1"))
		}
		Expect(reader.List(ctx, list, options...)).To(Succeed())
		items, err := meta.ExtractList(list)
		Expect(err).NotTo(HaveOccurred())
		for _, item := range items {
			names = append(names, fmt.Sprintf("%T %s", item, client.ObjectKeyFromObject(item.(client.Object))))
		}
	}
	return names
}

// annotate sets the annotation for hosted mode on the add-on of cluster10, or removes it.
func annotate(ctx context.Context, hosting string) {
	GinkgoHelper()
	Eventually(func() error {
		addOn, err := get(ctx, hub, &ocmv1beta1.ManagedClusterAddOn{}, "cluster10", addOnName)()
		if err != nil {
			return err
		}
		delete(addOn.Annotations, ocmv1beta1.HostingClusterNameAnnotationKey)
		if hosting != "" {
			metav1.SetMetaDataAnnotation(&addOn.ObjectMeta, ocmv1beta1.HostingClusterNameAnnotationKey, hosting)
		}
		return hub.Update(ctx, addOn)
	}).Should(Succeed())
}

// hostedNowhere sets cluster1 as the hosting cluster of cluster10's agent, which OCM ignores.
func hostedNowhere(ctx context.Context) {
	objectsBefore := cluster1Objects(ctx)
	annotate(ctx, "cluster1")

	By("OCM deploying the agent again, on cluster10 as before")
	cluster, err := clusterNamed(ctx, "cluster10")
	Expect(err).NotTo(HaveOccurred())
	metav1.SetMetaDataAnnotation(&cluster.ObjectMeta, "open-cluster-management.io/image-registries",
		`{"registries":[{"source":"quay.io/open-cluster-management","mirror":"hosted.example"}]}`)
	Expect(hub.Update(ctx, cluster)).To(Succeed())
	cluster10 := administrator(managed["cluster10"].Cluster)
	Eventually(deploymentOn(ctx, cluster10, defaultNamespace)).Should(HaveField("Spec.Template.Spec.Containers",
		ConsistOf(HaveField("Image", "hosted.example/interlock-addon-agent:0.1.0"))))

	Expect(cluster1Objects(ctx)).To(HaveEach(BeElementOf(objectsBefore)))
	addOn, err := get(ctx, hub, &ocmv1beta1.ManagedClusterAddOn{}, "cluster10", addOnName)()
	Expect(err).NotTo(HaveOccurred())
	Expect(addOn.Finalizers).NotTo(ContainElement(ContainSubstring("host")))
	annotate(ctx, "")
}
