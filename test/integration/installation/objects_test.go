package installation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// phase returns the phase of an AddOnInstallation, and the reason of its condition if it differs. It is empty without an
// AddOnInstallation.
func phase(ctx context.Context, cluster, addOn string) func() (string, error) {
	return func() (string, error) {
		installation := &dependencyv1alpha1.AddOnInstallation{}
		err := hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: addOn}, installation)
		text := string(installation.Status.Phase)
		for _, condition := range installation.Status.Conditions {
			if condition.Reason != text {
				text += " " + condition.Reason
			}
		}
		return text, client.IgnoreNotFound(err)
	}
}

// installUnit registers an add-on that has Interlock install another one, and installs it.
func installUnit(ctx context.Context, base, leaf string) {
	GinkgoHelper()
	register(ctx, base, manual, "[]", onDemand)
	register(ctx, leaf, manual, removing(base), "")
	install(ctx, "east", leaf)
}

var _ = Describe("An AddOnInstallation", func() {
	It("shows how far an installation is", func(ctx context.Context) {
		installUnit(ctx, "ia-base", "ia-leaf")
		Eventually(phase(ctx, "east", "ia-base")).Should(Equal("Installed"))
		table := tableOf(ctx)
		Expect(table).To(ContainElement(MatchRegexp(`^NAME +PHASE +REASON +FIRST REQUESTER +SINCE$`)))
		Expect(table).To(ContainElement(MatchRegexp(`^ia-base +Installed +Installed +ia-leaf +\d+s$`)))
		uninstall(ctx, "east", "ia-leaf")
		Eventually(phase(ctx, "east", "ia-base")).Should(Equal("Unused"))
		Eventually(clustersWith(ctx, "ia-base")).Should(BeEmpty())
		Eventually(phase(ctx, "east", "ia-base")).Should(BeEmpty())
	})

	It("is the only state from which a new leader continues", func(ctx context.Context) {
		stopManaging()
		installUnit(ctx, "ib-base", "ib-leaf")
		createInstallation(ctx, "east", "ib-base", func(status *dependencyv1alpha1.AddOnInstallationStatus) {
			status.Phase = dependencyv1alpha1.PhaseInstalling // the process ended then
		})
		manage("2s")
		Eventually(clustersWith(ctx, "ib-base")).Should(ConsistOf("east"))
		Eventually(phase(ctx, "east", "ib-base")).Should(Equal("Installed"))

		By("the process ending before it has recorded an installation")
		stopManaging()
		setStatus(ctx, "ib-base", func(status *dependencyv1alpha1.AddOnInstallationStatus) {
			status.Phase, status.UID, status.Generation = dependencyv1alpha1.PhaseInstalling, "", 0
		})
		manage("2s")
		Eventually(phase(ctx, "east", "ib-base")).Should(Equal("Installed"))

		By("the process ending before it has removed an add-on")
		stopManaging()
		uninstall(ctx, "east", "ib-leaf")
		setStatus(ctx, "ib-base", func(status *dependencyv1alpha1.AddOnInstallationStatus) {
			timestamp := metav1.Now()
			status.Phase, status.UnusedSince = dependencyv1alpha1.PhaseRemoving, &timestamp
		})
		manage("1h")
		Eventually(clustersWith(ctx, "ib-base")).Should(BeEmpty())
		Eventually(phase(ctx, "east", "ib-base")).Should(BeEmpty())
	})

	It("hands the add-on over when it is deleted", func(ctx context.Context) {
		installUnit(ctx, "ic-base", "ic-leaf")
		Eventually(phase(ctx, "east", "ic-base")).Should(Equal("Installed"))
		Expect(hub.Client.Delete(ctx, &dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: "east", Name: "ic-base"}})).
			To(Succeed())
		uninstall(ctx, "east", "ic-leaf")
		Consistently(clustersWith(ctx, "ic-base")).WithTimeout(5 * time.Second).Should(ConsistOf("east"))
		Expect(phase(ctx, "east", "ic-base")()).To(BeEmpty())
		uninstall(ctx, "east", "ic-base")
	})

	It("reports that another writer has taken the add-on over", func(ctx context.Context) {
		installUnit(ctx, "id-base", "id-leaf")
		Eventually(phase(ctx, "east", "id-base")).Should(Equal("Installed"))
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "east", Name: "id-base"}}
		Expect(hub.Client.Patch(ctx, addOn, client.RawPatch("application/merge-patch+json",
			[]byte(`{"spec": {"installNamespace": "elsewhere"}}`)))).To(Succeed())
		Eventually(phase(ctx, "east", "id-base")).Should(Equal("Kept"))
		uninstall(ctx, "east", "id-leaf")
		Consistently(clustersWith(ctx, "id-base")).WithTimeout(5 * time.Second).Should(ConsistOf("east"))
		uninstall(ctx, "east", "id-base")
		Eventually(phase(ctx, "east", "id-base")).Should(BeEmpty())
	})

	It("reports why the hub refuses an installation, which is tried again", func(ctx context.Context) {
		policyObjects := create(ctx, `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: no-ie-base},
  spec: {failurePolicy: Fail, matchConstraints: {resourceRules: [{apiGroups: [addon.open-cluster-management.io], apiVersions: ["*"],
  operations: [CREATE], resources: [managedclusteraddons], resourceNames: [ie-base]}]},
  validations: [{expression: "false", message: not in this fleet}]}}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: no-ie-base},
  spec: {policyName: no-ie-base, validationActions: [Deny]}}`)
		register(ctx, "ie-base", manual, "[]", onDemand)
		register(ctx, "ie-leaf", manual, removing("ie-base"), "")
		Eventually(func() error {
			return hub.Client.Create(ctx, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "east", Name: "ie-base"}},
				client.DryRunAll)
		}).Should(MatchError(ContainSubstring("not in this fleet")))
		install(ctx, "east", "ie-leaf")
		Eventually(phase(ctx, "east", "ie-base")).Should(Equal("Installing Refused"))
		installation := &dependencyv1alpha1.AddOnInstallation{}
		Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: "east", Name: "ie-base"}, installation)).To(Succeed())
		Expect(installation.Status.Conditions[0].Message).To(ContainSubstring("not in this fleet"))
		Eventually(message(ctx, "east", "ie-leaf")).Should(ContainSubstring("the hub refuses what installs 'ie-base' on this cluster"))
		for _, object := range policyObjects {
			Expect(hub.Client.Delete(ctx, object)).To(Succeed())
		}
		Eventually(phase(ctx, "east", "ie-base")).WithTimeout(time.Minute).Should(Equal("Installed"))
	})
})

var _ = Describe("An add-on that contradicts installed add-ons", func() {
	It("is not installed, and the message says so", func(ctx context.Context) {
		register(ctx, "if-other", manual, "[{name: if-base, type: Conflicts}]", "")
		install(ctx, "east", "if-other")
		installUnit(ctx, "if-base", "if-leaf")
		install(ctx, "west", "if-leaf")
		Eventually(message(ctx, "east", "if-leaf")).Should(ContainSubstring("would contradict or break what is installed on this cluster"))
		Eventually(clustersWith(ctx, "if-base")).Should(ConsistOf("west"))
		Consistently(clustersWith(ctx, "if-base")).Should(ConsistOf("west"))
		Expect(phase(ctx, "east", "if-base")()).To(BeEmpty())
	})
})

var _ = Describe("Of two add-ons that contradict each other, and that are requested at the same moment", func() {
	DescribeTable("only one is installed", func(
		ctx context.Context, strategyOf func(context.Context, string) string, annotations, prefix string,
	) {
		stopManaging()
		first, second := make([]string, 4), make([]string, 4)
		for i := range first {
			first[i], second[i] = fmt.Sprint(prefix, "-first-", i), fmt.Sprint(prefix, "-second-", i)
			register(ctx, first[i], strategyOf(ctx, first[i]), "[]", annotations)
			register(ctx, second[i], strategyOf(ctx, second[i]), "[{name: "+first[i]+", type: Conflicts}]", annotations)
			for _, base := range []string{first[i], second[i]} {
				register(ctx, base+"-leaf", manual, auto(base), "")
				install(ctx, "east", base+"-leaf")
				install(ctx, "west", base+"-leaf")
			}
		}
		manage("2s")
		for i := range first {
			either := func() (clusters []string, err error) {
				withFirst, err := clustersWith(ctx, first[i])()
				withSecond, other := clustersWith(ctx, second[i])()
				return append(withFirst, withSecond...), errors.Join(err, other)
			}
			Eventually(either).Should(ConsistOf("east", "west"))
			Consistently(either).Should(ConsistOf("east", "west"))
		}
	},
		Entry("by label", consent, "", "la"),
		Entry("by annotation", func(context.Context, string) string { return manual }, onDemand, "an"),
	)
})

// setStatus changes the status of an AddOnInstallation on the managed cluster east.
func setStatus(ctx context.Context, addOn string, set func(*dependencyv1alpha1.AddOnInstallationStatus)) {
	GinkgoHelper()
	installation := &dependencyv1alpha1.AddOnInstallation{}
	Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: "east", Name: addOn}, installation)).To(Succeed())
	set(&installation.Status)
	Expect(hub.Client.Update(ctx, installation)).To(Succeed())
}

// tableOf returns the output of kubectl get addoninstallations on the managed cluster east, in lines.
func tableOf(ctx context.Context) (lines []string) {
	GinkgoHelper()
	config := rest.CopyConfig(hub.Config)
	config.GroupVersion, config.APIPath = &dependencyv1alpha1.GroupVersion, "/apis"
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme.Scheme)
	reader, err := rest.RESTClientFor(config)
	Expect(err).NotTo(HaveOccurred())
	raw, err := reader.Get().Namespace("east").Resource("addoninstallations").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	table := &metav1.Table{}
	Expect(json.Unmarshal(raw, table)).To(Succeed())
	var heading []string
	for _, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			heading = append(heading, strings.ToUpper(column.Name))
		}
	}
	lines = append(lines, strings.Join(heading, " "))
	for _, row := range table.Rows {
		var cells []string
		for i, column := range table.ColumnDefinitions {
			if column.Priority == 0 {
				cells = append(cells, fmt.Sprint(row.Cells[i]))
			}
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	return lines
}
