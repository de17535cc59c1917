package installation

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/test/setup"
)

var _ = Describe("The rights of addon-manager --lifecycle", func() {
	DescribeTable("do not let it create", func(ctx context.Context, manifest, refusal string) {
		userClient := setup.ClientAs(deployment.ManagerUser.Config, hub.Client)
		object := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(manifest), &object.Object)).To(Succeed())
		err := userClient.Create(ctx, object, client.DryRunAll)
		Expect(apierrors.IsForbidden(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring(refusal)))
	},
		Entry("a namespace", "{apiVersion: v1, kind: Namespace, metadata: {name: mine}}", "forbidden"),
		Entry("a Placement", `{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement,
			metadata: {name: mine, namespace: east}, spec: {}}`, "forbidden"),
		Entry("a PlacementDecision", `{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: PlacementDecision,
			metadata: {name: mine, namespace: east}}`, "forbidden"),
		Entry("a ManagedCluster", `{apiVersion: cluster.open-cluster-management.io/v1, kind: ManagedCluster, metadata: {name: mine},
			spec: {}}`, "forbidden"),
		Entry("settings under another name",
			`{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: AddOnDeploymentConfig, metadata: {name: mine,
			namespace: east, labels: {app.kubernetes.io/managed-by: interlock-addon-manager}}, spec: {}}`, "but those that it has made"),
		Entry("settings that do not go with an add-on", `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: AddOnDeploymentConfig,
			metadata: {name: interlock-a, namespace: east, labels: {app.kubernetes.io/managed-by: interlock-addon-manager}}, spec: {}}`,
			"but those that it has made"),
		Entry("a Secret", "{apiVersion: v1, kind: Secret, metadata: {name: mine, namespace: east}}", "forbidden"),
		Entry("a registration", `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn,
			metadata: {name: mine}, spec: {}}`, "forbidden"),
	)

	It("do not let it create an add-on that does not say by whom, or with settings", func(ctx context.Context) {
		userClient := setup.ClientAs(deployment.ManagerUser.Config, hub.Client)
		for _, manifest := range []string{
			"{metadata: {name: mine, namespace: east}, spec: {}}",
			"{metadata: {name: mine, namespace: east, labels: {dependency.addon.open-cluster-management.io/installed-by: interlock}}, " +
				"spec: {configs: [{group: addon.open-cluster-management.io, resource: addondeploymentconfigs, name: x, namespace: elsewhere}]}}",
		} {
			object := &unstructured.Unstructured{}
			Expect(yaml.Unmarshal([]byte(manifest), &object.Object)).To(Succeed())
			object.SetAPIVersion("addon.open-cluster-management.io/v1alpha1")
			object.SetKind("ManagedClusterAddOn")
			Expect(userClient.Create(ctx, object)).To(MatchError(ContainSubstring("create or delete one with the label installed-by")), manifest)
		}
	})

	It("do not let it change settings of users, or delete any, or read Secrets", func(ctx context.Context) {
		userClient := setup.ClientAs(deployment.ManagerUser.Config, hub.Client)
		config := create(ctx, `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: AddOnDeploymentConfig,
			metadata: {name: interlock-of-a-user, namespace: east}, spec: {}}`)[0]
		Expect(userClient.Patch(ctx, config, client.RawPatch("application/merge-patch+json", []byte(`{"metadata": {"labels": {
			"app.kubernetes.io/managed-by": "interlock-addon-manager"}}}`)))).To(MatchError(ContainSubstring("but those that it has made")))
		Expect(apierrors.IsForbidden(userClient.Delete(ctx, config))).To(BeTrue())
		secrets := &unstructured.UnstructuredList{}
		secrets.SetAPIVersion("v1")
		secrets.SetKind("SecretList")
		Expect(apierrors.IsForbidden(userClient.List(ctx, secrets))).To(BeTrue())
	})

	It("do not let it change or delete objects of others", func(ctx context.Context) {
		install(ctx, "east", "not-its-own")
		userClient := setup.ClientAs(deployment.ManagerUser.Config, hub.Client)
		addOn := &unstructured.Unstructured{}
		addOn.SetAPIVersion("addon.open-cluster-management.io/v1alpha1")
		addOn.SetKind("ManagedClusterAddOn")
		addOn.SetName("not-its-own")
		addOn.SetNamespace("east")
		Expect(userClient.Patch(ctx, addOn, client.RawPatch("application/merge-patch+json", []byte(`{"metadata": {"labels": {"a": "b"}}}`)))).
			To(MatchError(ContainSubstring("may change nothing of a ManagedClusterAddOn but the status")))
		Expect(userClient.Delete(ctx, addOn)).To(MatchError(ContainSubstring("create or delete one with the label installed-by")))
		Expect(apierrors.IsForbidden(userClient.DeleteAllOf(ctx, addOn, client.InNamespace("east")))).To(BeTrue())
		namespace := &unstructured.Unstructured{}
		namespace.SetAPIVersion("v1")
		namespace.SetKind("Namespace")
		namespace.SetName("east")
		Expect(apierrors.IsForbidden(userClient.Delete(ctx, namespace))).To(BeTrue())
	})
})
