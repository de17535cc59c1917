package coexistence

import (
	"context"
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// missingAddOn is the dependency of all dependents. It is installed only in the last period of each form of the guard.
const missingAddOn = "missing"

// registerAddOns registers all cases, without a dependency at first.
func registerAddOns(ctx context.Context) {
	GinkgoHelper()
	for _, c := range cases {
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: c.name()}}
		registration.Spec.InstallStrategy.Type = addonv1alpha1.AddonInstallStrategyManual
		if c.kind == "template" {
			Expect(hub.Client.Create(ctx, c.template())).To(Succeed())
			registration.Spec.SupportedConfigs = []addonv1alpha1.ConfigMeta{{ //nolint:staticcheck // v1alpha1 has no other field for it
				ConfigGroupResource: addonv1alpha1.ConfigGroupResource{Group: addonv1alpha1.GroupName, Resource: "addontemplates"},
				DefaultConfig:       &addonv1alpha1.ConfigReferent{Name: c.name()},
			}}
		}
		Expect(hub.Client.Create(ctx, registration)).To(Succeed())
	}
}

func (c *example) template() *addonv1alpha1.AddOnTemplate {
	template := &addonv1alpha1.AddOnTemplate{ObjectMeta: metav1.ObjectMeta{Name: c.name()}}
	template.Spec.AddonName = c.name()
	for _, object := range c.manifests() {
		template.Spec.AgentSpec.Workload.Manifests = append(template.Spec.AgentSpec.Workload.Manifests,
			workv1.Manifest{RawExtension: runtime.RawExtension{Object: object}})
	}
	return template
}

// withDependency is whether the dependents declare their dependency.
var withDependency bool

// declare adds the missing add-on to the dependencies of all dependents.
func declare(ctx context.Context) {
	GinkgoHelper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{
		interlockv1alpha1.DependenciesAnnotation: "[{name: " + missingAddOn + "}]",
	}}})
	Expect(err).NotTo(HaveOccurred())
	for _, c := range dependents() {
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: c.name()}}
		Expect(hub.Client.Patch(ctx, registration, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
	}
	withDependency = true
}

// installDependency installs the dependency on every cluster, and renews its lease until the test ends.
func installDependency(ctx context.Context) {
	GinkgoHelper()
	for _, s := range sites {
		s.renew(missingAddOn)
		Expect(client.IgnoreAlreadyExists(hub.Client.Create(ctx, s.addOn(missingAddOn)))).To(Succeed()) // a repeated spec finds it installed
	}
}

func uninstallDependency(ctx context.Context) {
	GinkgoHelper()
	for _, s := range sites {
		dependency := s.addOn(missingAddOn)
		Expect(client.IgnoreNotFound(hub.Client.Delete(ctx, dependency))).To(Succeed())
		Eventually(func() error { return hub.Client.Get(ctx, client.ObjectKeyFromObject(dependency), dependency) }).
			Should(MatchError(apierrors.IsNotFound, "IsNotFound"))
	}
}

var stopAuthors = func() {}

// restartAuthors restarts the managers of probed add-ons. They set Available again.
func restartAuthors(ctx context.Context) {
	GinkgoHelper()
	stopAuthors()
	var err error
	stopAuthors, err = startAuthors(ctx, hub.Config)
	Expect(err).NotTo(HaveOccurred())
}

// disputeInterval is how often two writers overwrite each other.
const disputeInterval = 500 * time.Millisecond

// dispute has two writers set another condition of an add-on, each to a value of its own, until the context ends.
func dispute(ctx context.Context, s *site, c *example) {
	wait.UntilWithContext(ctx, func(ctx context.Context) {
		for _, value := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse} {
			s.insist(context.WithoutCancel(ctx), c, value) // the audit log has no version of a request that was canceled
		}
	}, disputeInterval)
}

// insist sets the condition as stock writers do, with a merge patch of all conditions and the resourceVersion.
func (s *site) insist(ctx context.Context, c *example, value metav1.ConditionStatus) {
	addOn := s.addOn(c.name())
	if hub.Client.Get(ctx, client.ObjectKeyFromObject(addOn), addOn) != nil {
		return
	}
	original := addOn.DeepCopy()
	meta.SetStatusCondition(&addOn.Status.Conditions, metav1.Condition{Type: "Progressing", Status: value, Reason: "Insisting"})
	_ = hub.Client.Status().Patch(ctx, addOn, client.MergeFromWithOptions(original, client.MergeFromWithOptimisticLock{}),
		client.FieldOwner("insisting-"+string(value))) // after a conflict, it tries again
}
