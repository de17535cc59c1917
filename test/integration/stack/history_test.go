package stack

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

// history has the version of the hub at which each work was made, and at which each add-on first became available, and was
// gone. All objects of a hub share one count of versions.
var history = struct {
	sync.Mutex
	made, available, gone map[types.NamespacedName]uint64
	// waits is when each add-on was first seen with the finalizer that lets it wait for its dependents.
	waits map[types.NamespacedName]uint64
}{
	made: map[types.NamespacedName]uint64{}, available: map[types.NamespacedName]uint64{}, gone: map[types.NamespacedName]uint64{},
	waits: map[types.NamespacedName]uint64{},
}

// when returns a version out of the history; zero: not yet.
func when(what map[types.NamespacedName]uint64, cluster, name string) uint64 {
	history.Lock()
	defer history.Unlock()
	return what[types.NamespacedName{Namespace: cluster, Name: name}]
}

// followTheHub keeps the history until the suite ends.
func followTheHub() {
	GinkgoHelper()
	follow(&workv1.ManifestWorkList{}, func(object client.Object, version uint64, deleted bool) {
		name := strings.TrimSuffix(strings.TrimPrefix(object.GetName(), "addon-"), "-deploy-0")
		record(history.made, object.GetNamespace(), name, version, !deleted)
	})
	follow(&addonv1alpha1.ManagedClusterAddOnList{}, func(object client.Object, version uint64, deleted bool) {
		conditions := object.(*addonv1alpha1.ManagedClusterAddOn).Status.Conditions
		available := !deleted && meta.IsStatusConditionTrue(conditions, addonv1alpha1.ManagedClusterAddOnConditionAvailable)
		record(history.available, object.GetNamespace(), object.GetName(), version, available)
		record(history.waits, object.GetNamespace(), object.GetName(), version,
			slices.Contains(object.GetFinalizers(), interlockv1alpha1.WaitForDependentsFinalizer))
		record(history.gone, object.GetNamespace(), object.GetName(), version, deleted)
	})
}

// record keeps the first version at which something is so.
func record(of map[types.NamespacedName]uint64, cluster, name string, version uint64, is bool) {
	if key := (types.NamespacedName{Namespace: cluster, Name: name}); is && of[key] == 0 {
		of[key] = version
	}
}

func follow(list client.ObjectList, each func(object client.Object, version uint64, deleted bool)) {
	GinkgoHelper()
	watching, err := hub.Client.Watch(context.Background(), list)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(watching.Stop)
	go func() {
		defer GinkgoRecover()
		for event := range watching.ResultChan() {
			object, isObject := event.Object.(client.Object)
			if !isObject {
				continue
			}
			version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
			Expect(err).NotTo(HaveOccurred())
			history.Lock()
			each(object, version, event.Type == watch.Deleted)
			history.Unlock()
		}
	}()
}

// runWorkloads has each Deployment of a managed cluster become available, as with nodes, until the suite ends.
func runWorkloads(on *ocm.ManagedCluster) {
	GinkgoHelper()
	ctx, stop := context.WithCancel(context.Background())
	DeferCleanup(stop)
	Expect(appsv1.AddToScheme(on.Client.Scheme())).To(Succeed())
	watching, err := on.Client.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace(ocm.AddOnNamespace))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(watching.Stop)
	go func() {
		defer GinkgoRecover()
		for event := range watching.ResultChan() {
			if event.Type != watch.Added {
				continue
			}
			const status = `{"status":{"observedGeneration":1,"replicas":1,"readyReplicas":1,"availableReplicas":1}}`
			err := on.Client.Status().Patch(ctx, event.Object.(*appsv1.Deployment), client.RawPatch(types.MergePatchType, []byte(status)))
			if !apierrors.IsNotFound(err) && ctx.Err() == nil {
				Expect(err).NotTo(HaveOccurred())
			}
		}
	}()
}
