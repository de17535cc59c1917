package reports

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/bulk"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/report"
)

const (
	// concurrency limits the load on the hub in a storm.
	concurrency = 2
	// pageSize is the number of reports that are read at a time. A report has up to 256 KiB.
	pageSize = 100
)

type (
	cluster = *clusterv1.ManagedCluster
	addOn   = *addonv1alpha1.ManagedClusterAddOn
)

// SetupWithManager registers the controllers of both kinds of reports. The controller of clusters begins with all clusters, and
// those that have a report.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	if err := controllers.Setup(mgr, "fleetreport", &fleetReconciler{clusters: r}, 1, controllers.RetryOnHub,
		r.fleet.changed().Source()); err != nil {
		return err
	}
	return controllers.Setup(mgr, "reports", r, concurrency, controllers.RetryOnHub,
		source.Func(r.Changes.start), source.Func(r.readStored),
		source.Kind(mgr.GetCache(), &clusterv1.ManagedCluster{}, r.managedClusters()),
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{}, r.addOns()))
}

// readStored records the fingerprints of all stored reports, and enqueues their clusters. It
// waits for the CRD.
func (r *Reconciler) readStored(ctx context.Context, q queue) error {
	retry := wait.Backoff{
		Duration: delay,
		Factor:   2,
		Steps:    1000,
		Cap:      controllers.RetryOnHub,
	}
	// The error is ignored: it only says that the context has ended.
	_ = retry.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := r.readPages(ctx, q)
		if err != nil && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "Could not read the AddOnDependencyReports; no report is written until they can be read", "crd", dependencyv1alpha1.ReportCRDName)
		}
		return err == nil, nil
	})
	return nil
}

func (r *Reconciler) readPages(ctx context.Context, q queue) error {
	for token := ""; ; {
		page := &dependencyv1alpha1.AddOnDependencyReportList{}
		if err := r.Live.List(ctx, page, client.Limit(pageSize), client.Continue(token)); err != nil {
			return fmt.Errorf("list AddOnDependencyReports: %w", err)
		}
		for i := range page.Items {
			object := &page.Items[i]
			if object.Name != object.Namespace {
				continue // of another writer
			}
			content, err := fingerprint(*object)
			if err != nil {
				return err
			}
			r.contents.Store(object.Name, content)
			enqueue(q, object.Name)
		}
		if token = page.Continue; token == "" {
			return nil
		}
	}
}

// managedClusters handles the events of managed clusters. The loss of a cluster changes its report, and its labels, claims and version
// change the report on the fleet, but no add-on is evaluated then.
func (r *Reconciler) managedClusters() handler.TypedFuncs[cluster, reconcile.Request] {
	return handler.TypedFuncs[cluster, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[cluster], q queue) {
			enqueue(q, e.Object.Name)
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[cluster], q queue) {
			if fleet.ClusterStatus(e.ObjectOld) != fleet.ClusterStatus(e.ObjectNew) || !report.SameTraits(e.ObjectOld, e.ObjectNew) {
				enqueue(q, e.ObjectNew.Name)
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[cluster], q queue) {
			enqueue(q, e.Object.Name)
		},
	}
}

// addOns handles the events of add-ons. The conditions of an add-on without dependencies change the report on the fleet, but the add-on is
// not evaluated.
func (r *Reconciler) addOns() handler.TypedFuncs[addOn, reconcile.Request] {
	return handler.TypedFuncs[addOn, reconcile.Request]{
		CreateFunc: func(_ context.Context, e event.TypedCreateEvent[addOn], q queue) {
			enqueue(q, e.Object.Namespace)
		},
		UpdateFunc: func(_ context.Context, e event.TypedUpdateEvent[addOn], q queue) {
			if fleet.GateClosed(e.ObjectOld) != fleet.GateClosed(e.ObjectNew) ||
				!equality.Semantic.DeepEqual(e.ObjectOld.Status, e.ObjectNew.Status) {
				enqueue(q, e.ObjectNew.Namespace)
			}
		},
		DeleteFunc: func(_ context.Context, e event.TypedDeleteEvent[addOn], q queue) {
			enqueue(q, e.Object.Namespace)
		},
	}
}

// RemoveWhereOff lets the leader delete the reports of an earlier leader with --reports. If
// there are no reports, it sends two requests.
func RemoveWhereOff(mgr ctrl.Manager) error {
	return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		deleted, err := bulk.Delete(ctx, mgr.GetAPIReader(), mgr.GetClient(), dependencyv1alpha1.ReportKind, client.ListOptions{})
		if deleted > 0 {
			log.FromContext(ctx).Info("Deleted AddOnDependencyReports, because reports are off", "deleted", deleted)
		}
		absent := meta.IsNoMatchError(err) || apierrors.IsNotFound(err)
		if err != nil && !absent && ctx.Err() == nil {
			log.FromContext(ctx).Error(err, "Could not delete the AddOnDependencyReports that are left; the next start tries again")
		}
		wasStored, err := DeleteFleetReport(ctx, mgr.GetAPIReader(), mgr.GetClient())
		switch {
		case err != nil && ctx.Err() == nil:
			log.FromContext(ctx).Error(err, "Could not delete the AddOnFleetReport that is left; the next start tries again")
		case wasStored:
			log.FromContext(ctx).Info("Deleted the AddOnFleetReport, because reports are off")
		}
		return nil
	}))
}
