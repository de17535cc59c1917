// Package addonversion is for authors of add-ons: it lets an add-on's agent report its version, so that other add-ons can depend on
// a version.
//
// The lease that the agent renews has the version in the annotation dependency.addon.open-cluster-management.io/version. With
// addon-framework's updater of leases, that is one more argument:
//
//	lease.NewLeaseUpdater(client, "cluster-proxy", namespace,
//		addonversion.Reporter(ctx, client, "cluster-proxy", namespace, "0.6.0")).Start(ctx)
//
// An agent that writes its lease itself calls Set before it does.
package addonversion

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Annotation is the annotation of a lease that has the version of its add-on.
const Annotation = addonv1alpha1.AddOnVersionAnnotation

const (
	timeout = 10 * time.Second
	// leaseDuration is the duration of addon-framework's leases, in seconds.
	leaseDuration = 60
)

// Set puts the version, such as "0.6.0" or "v0.6.0", on a lease, and reports whether that changed the lease. It removes a version
// under the annotation's former key.
func Set(lease *coordinationv1.Lease, version string) bool {
	_, former := lease.Annotations[addonv1alpha1.FormerVersionAnnotation]
	if lease.Annotations[Annotation] == version && !former {
		return false
	}
	delete(lease.Annotations, addonv1alpha1.FormerVersionAnnotation)
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, Annotation, version)
	return true
}

// Reporter returns a health check for addon-framework's NewLeaseUpdater, which calls it before each renewal: it makes sure that the
// lease has the version. It is always healthy. List it after the checks that can fail, because it creates a missing lease. It needs
// the rights that the updater needs: to get, create and update that lease. Its requests end with the context.
func Reporter(ctx context.Context, client kubernetes.Interface, leaseName, leaseNamespace, version string) func() bool {
	return func() bool {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		if err := report(ctx, client, leaseName, leaseNamespace, version); err != nil {
			klog.FromContext(ctx).Error(err, "Could not report the version of the add-on; trying again with the next renewal",
				"lease", klog.KRef(leaseNamespace, leaseName), "version", version)
		}
		return true
	}
}

func report(ctx context.Context, client kubernetes.Interface, name, namespace, version string) error {
	leases := client.CoordinationV1().Leases(namespace)
	lease, err := leases.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		lease.Spec.LeaseDurationSeconds = ptr.To[int32](leaseDuration)
		lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(time.Now()))
		Set(lease, version)
		_, err = leases.Create(ctx, lease, metav1.CreateOptions{})
		return err
	}
	if err != nil || !Set(lease, version) {
		return err
	}
	_, err = leases.Update(ctx, lease, metav1.UpdateOptions{})
	return err
}
