package hub

import (
	"encoding/json"
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gstruct"
	gomegatypes "github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

const (
	requiredReason  = addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
	optionalReason  = addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied
	satisfiedReason = addonv1alpha1.AddonDegradedReasonDependenciesSatisfied

	available   = "Available"
	leaseFresh  = "ManagedClusterAddOnLeaseUpdated"
	leaseStale  = "ManagedClusterAddOnLeaseUpdateStopped"
	clusterLost = "ManagedClusterLeaseUpdateStopped"
)

var nameCounts = map[string]int{}

// unique returns a name that no other spec uses. A namespace cannot be removed, because no controller empties it.
func unique(prefix string) string {
	nameCounts[prefix]++
	return fmt.Sprintf("%s-%d", prefix, nameCounts[prefix])
}

func required(name string) addonv1alpha1.AddonDependency {
	return addonv1alpha1.AddonDependency{Name: name, Type: addonv1alpha1.DependencyTypeRequired}
}

func optional(name string) addonv1alpha1.AddonDependency {
	return addonv1alpha1.AddonDependency{Name: name, Type: addonv1alpha1.DependencyTypeOptional}
}

// create creates an object and removes it, finalizers or not, after the spec.
func create(object client.Object) {
	GinkgoHelper()
	Expect(hubClient.Create(ctx, object)).To(Succeed())
	DeferCleanup(func() {
		unblocked := object.DeepCopyObject().(client.Object)
		_ = hubClient.Patch(ctx, unblocked, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
		Expect(client.IgnoreNotFound(hubClient.Delete(ctx, unblocked))).To(Succeed())
	})
}

// register creates a ClusterManagementAddOn that declares the dependencies.
func register(name string, dependencies ...addonv1alpha1.AddonDependency) *addonv1alpha1.ClusterManagementAddOn {
	GinkgoHelper()
	addOn := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
	addOn.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyManual
	addOn.Spec.Dependencies = dependencies
	create(addOn)
	return addOn
}

// declare replaces the dependencies of a registered add-on.
func declare(name string, dependencies ...addonv1alpha1.AddonDependency) {
	GinkgoHelper()
	amend(name, func(addOn *addonv1alpha1.ClusterManagementAddOn) { addOn.Spec.Dependencies = dependencies })
}

// annotate replaces the annotation form of the declaration.
func annotate(name, value string) {
	GinkgoHelper()
	amend(name, func(addOn *addonv1alpha1.ClusterManagementAddOn) {
		metav1.SetMetaDataAnnotation(&addOn.ObjectMeta, addonv1alpha1.DependenciesAnnotation, value)
	})
}

func amend(name string, change func(*addonv1alpha1.ClusterManagementAddOn)) {
	GinkgoHelper()
	addOn := &addonv1alpha1.ClusterManagementAddOn{}
	Expect(hubClient.Get(ctx, types.NamespacedName{Name: name}, addOn)).To(Succeed())
	original := addOn.DeepCopy()
	change(addOn)
	Expect(hubClient.Patch(ctx, addOn, client.MergeFrom(original))).To(Succeed())
}

// newCluster creates the namespace of a managed cluster. Most specs need no more than that.
func newCluster() string {
	GinkgoHelper()
	name := unique("cluster")
	Expect(hubClient.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	return name
}

// accept creates the ManagedCluster itself, which is available.
func accept(cluster string) {
	GinkgoHelper()
	create(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}})
	reach(cluster, metav1.ConditionTrue)
}

// reach sets Available of a ManagedCluster.
func reach(cluster string, status metav1.ConditionStatus) {
	GinkgoHelper()
	object := &clusterv1.ManagedCluster{}
	Expect(hubClient.Get(ctx, types.NamespacedName{Name: cluster}, object)).To(Succeed())
	meta.SetStatusCondition(&object.Status.Conditions, metav1.Condition{
		Type: clusterv1.ManagedClusterConditionAvailable, Status: status, Reason: "Test",
	})
	Expect(hubClient.Status().Update(ctx, object)).To(Succeed())
}

// install creates add-ons on a cluster. No component reports on them yet.
func install(cluster string, addOns ...string) {
	GinkgoHelper()
	for _, addOn := range addOns {
		create(&addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: addOn}})
	}
}

// installAvailable installs add-ons whose Available is True, one after the other.
func installAvailable(cluster string, addOns ...string) {
	GinkgoHelper()
	for _, addOn := range addOns {
		install(cluster, addOn)
		report(cluster, addOn, metav1.ConditionTrue, leaseFresh)
	}
}

func uninstall(cluster, addOn string) {
	GinkgoHelper()
	Expect(hubClient.Delete(ctx, readAddOn(cluster, addOn))).To(Succeed())
}

// report sets Available as OCM's registration agent does.
func report(cluster, addOn string, status metav1.ConditionStatus, reason string) {
	GinkgoHelper()
	Expect(setAsOCM(cluster, addOn, metav1.Condition{Type: available, Status: status, Reason: reason, Message: "as tested"})).To(Succeed())
}

// setAsOCM writes a condition as a stock writer does: with a merge patch of the whole list of conditions, and the resourceVersion at
// which the list was read.
func setAsOCM(cluster, addOn string, condition metav1.Condition) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		object := &addonv1alpha1.ManagedClusterAddOn{}
		if err := hubClient.Get(ctx, types.NamespacedName{Namespace: cluster, Name: addOn}, object); err != nil {
			return err
		}
		meta.SetStatusCondition(&object.Status.Conditions, condition)
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": object.ResourceVersion},
			"status":   map[string]any{"conditions": object.Status.Conditions},
		})
		if err != nil {
			return err
		}
		return hubClient.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner("registration-agent"))
	})
}

func readAddOn(cluster, addOn string) *addonv1alpha1.ManagedClusterAddOn {
	GinkgoHelper()
	object := &addonv1alpha1.ManagedClusterAddOn{}
	Expect(hubClient.Get(ctx, types.NamespacedName{Namespace: cluster, Name: addOn}, object)).To(Succeed())
	return object
}

// degradedOf reads the condition Degraded, which is nil if there is none. It is for Eventually.
func degradedOf(cluster, addOn string) func() (*metav1.Condition, error) {
	return func() (*metav1.Condition, error) {
		object := &addonv1alpha1.ManagedClusterAddOn{}
		err := hubClient.Get(ctx, types.NamespacedName{Namespace: cluster, Name: addOn}, object)
		return meta.FindStatusCondition(object.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionDegraded), err
	}
}

// version reads the resourceVersion of an add-on. If it is unchanged, the add-on was not written.
func version(cluster, addOn string) func() (string, error) {
	return func() (string, error) {
		object := &addonv1alpha1.ManagedClusterAddOn{}
		err := hubClient.Get(ctx, types.NamespacedName{Namespace: cluster, Name: addOn}, object)
		return object.ResourceVersion, err
	}
}

// versions reads the resourceVersions of all add-ons on a cluster.
func versions(cluster string) func() (map[string]string, error) {
	return func() (map[string]string, error) {
		list := &addonv1alpha1.ManagedClusterAddOnList{}
		err := hubClient.List(ctx, list, client.InNamespace(cluster))
		byName := map[string]string{}
		for _, item := range list.Items {
			byName[item.Name] = item.ResourceVersion
		}
		return byName, err
	}
}

// eventsOf reads the events about an object, oldest first, as "reason: note".
func eventsOf(uid types.UID) func() ([]string, error) {
	return func() ([]string, error) {
		list := &eventsv1.EventList{}
		err := hubClient.List(ctx, list)
		slices.SortFunc(list.Items, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
		var notes []string
		for _, event := range list.Items {
			if event.Regarding.UID == uid {
				notes = append(notes, event.Reason+": "+event.Note)
			}
		}
		return notes, err
	}
}

// requiredFails, optionalFails and satisfied match the expected Degraded.
func requiredFails(message ...gomegatypes.GomegaMatcher) gomegatypes.GomegaMatcher {
	return matchDegraded(metav1.ConditionTrue, requiredReason, message...)
}

func optionalFails(message ...gomegatypes.GomegaMatcher) gomegatypes.GomegaMatcher {
	return matchDegraded(metav1.ConditionTrue, optionalReason, message...)
}

func satisfied() gomegatypes.GomegaMatcher {
	return matchDegraded(metav1.ConditionFalse, satisfiedReason)
}

func matchDegraded(status metav1.ConditionStatus, reason string, message ...gomegatypes.GomegaMatcher) gomegatypes.GomegaMatcher {
	return gstruct.PointTo(gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{
		"Type": Equal(
			addonv1alpha1.ManagedClusterAddOnConditionDegraded,
		), "Status": Equal(status), "Reason": Equal(reason), "Message": And(message...),
	}))
}

// must reads a value once, by a function for Eventually.
func must[T any](read func() (T, error)) T {
	GinkgoHelper()
	value, err := read()
	Expect(err).NotTo(HaveOccurred())
	return value
}
