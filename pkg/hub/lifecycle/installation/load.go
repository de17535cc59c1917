package installation

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// subject is an add-on on a managed cluster with the inputs of its decision.
type subject struct {
	installation.Facts

	key types.NamespacedName
	// object is the AddOnInstallation. It is nil if there is none.
	object *dependencyv1alpha1.AddOnInstallation
	// dependents are the add-ons on the cluster that request it.
	dependents []types.NamespacedName
	// version is the resource version of the ManagedClusterAddOn, once its removal is confirmed.
	version string
}

// load reads the inputs of a decision from the caches.
func (r *Reconciler) load(ctx context.Context, declared *evaluation.Evaluator, key types.NamespacedName) (*subject, error) {
	of := &subject{key: key}
	of.Delay, of.Consents, of.Keep = r.RemovalDelay, declared.Consents(key.Name), installation.Keeps(declared.Catalog, key.Name)
	object := &dependencyv1alpha1.AddOnInstallation{}
	switch err := r.Objects.Get(ctx, key, object); {
	case err == nil:
		of.object, of.Stored = object, storedIn(object)
	case !apierrors.IsNotFound(err):
		return of, fmt.Errorf("get AddOnInstallation %s: %w", key, err)
	}
	addOn, err := r.Inputs.AddOn(ctx, key)
	if err != nil {
		return of, err
	}
	of.AddOn = present(addOn)
	if of.Stored != nil && of.AddOn == nil { // the cache may be behind, so the removal is confirmed
		if err := r.confirmAddOn(ctx, of); err != nil {
			return of, err
		}
	}
	if err := r.loadCluster(ctx, declared, of); err != nil {
		return of, err
	}
	return of, r.loadUsers(ctx, declared, of)
}

// present describes a ManagedClusterAddOn, which may be nil.
func present(addOn *addonv1alpha1.ManagedClusterAddOn) *installation.Present {
	if addOn == nil {
		return nil
	}
	return &installation.Present{
		UID:        addOn.UID,
		Generation: addOn.Generation,
		Ours:       fleet.InstalledByInterlock(addOn),
		Deleted:    !addOn.DeletionTimestamp.IsZero(),
	}
}

func (r *Reconciler) loadCluster(ctx context.Context, declared *evaluation.Evaluator, of *subject) error {
	cluster, err := r.Inputs.Cluster(ctx, of.key.Namespace)
	if err != nil {
		return err
	}
	r.describeCluster(declared, of, cluster)
	return nil
}

// describeCluster sets the state of the managed cluster and its label. cluster is nil if it does not exist.
func (r *Reconciler) describeCluster(declared *evaluation.Evaluator, of *subject, cluster *clusterv1.ManagedCluster) {
	switch {
	case cluster == nil || !cluster.DeletionTimestamp.IsZero():
		of.Cluster = installation.ClusterDetached
		return
	case len(declared.Denying(cluster.Labels)) > 0:
		of.Cluster = installation.ClusterDenied
	case !meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable),
		!r.FirstPass.Await(cluster.Name, r.Changed, of.key):
		of.Cluster = installation.ClusterDoubtful
	}
	of.ClusterUID, of.Labeled = cluster.UID, fleet.HasInstallLabel(cluster, of.key.Name)
	consent := declared.Consent(of.key.Name)
	of.ByLabel = consent == catalog.ByLabel || consent != catalog.ByAnnotation && of.Labeled
}

// loadUsers reads the add-ons on the managed cluster that use the add-on, and those that request its installation.
func (r *Reconciler) loadUsers(ctx context.Context, declared *evaluation.Evaluator, of *subject) error {
	of.Use = installation.Unused
	for _, user := range installation.Users(declared.Catalog, of.key.Name) {
		key := types.NamespacedName{Namespace: of.key.Namespace, Name: user}
		found, err := r.Inputs.AddOn(ctx, key)
		if err != nil {
			return err
		}
		if found == nil {
			continue
		}
		assessed := r.Assessments.Last(key)
		if assessed == nil {
			of.use(installation.UseUnknown)
			continue
		}
		of.use(installation.UseBy(declared.Catalog, user, of.key.Name, assessed.Findings))
		if !found.DeletionTimestamp.IsZero() {
			continue
		}
		if removal, missing := installation.RequestBy(declared.Catalog, of.key.Name, assessed.Findings); removal != "" {
			of.dependents = append(of.dependents, key)
			of.Requests = append(of.Requests, dependencyv1alpha1.InstallationRequest{AddOn: user, Removal: removal})
			of.Missing = of.Missing || missing
		}
	}
	return nil
}

// use combines the use by one add-on with the use by the others.
func (s *subject) use(one installation.Use) {
	switch {
	case s.Use == installation.Used || one == installation.Used:
		s.Use = installation.Used
	case one == installation.UseUnknown:
		s.Use = one
	}
}
