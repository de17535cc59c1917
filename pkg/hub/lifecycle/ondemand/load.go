package ondemand

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// subject is an add-on on a managed cluster with the inputs of its decision.
type subject struct {
	installation.Inputs

	key types.NamespacedName
	// object is the AddOnInstallation. It is nil if there is none.
	object *dependencyv1alpha1.AddOnInstallation
	// dependents are the add-ons on the cluster that request it.
	dependents []types.NamespacedName
	// awaited are the other add-ons that OCM is about to install on the cluster, or has installed, because of a label.
	awaited []string
	// version is the resource version of the ManagedClusterAddOn, once its removal is confirmed.
	version string
}

// load reads the inputs of a decision from the caches.
func (r *Reconciler) load(ctx context.Context, evaluator *evaluation.Evaluator, key types.NamespacedName) (*subject, error) {
	s := &subject{key: key}
	s.Delay, s.Keep = r.RemovalDelay, installation.Keeps(evaluator.Catalog, key.Name)
	object := &dependencyv1alpha1.AddOnInstallation{}
	switch err := r.Objects.Get(ctx, key, object); {
	case err == nil:
		s.object, s.Stored = object, storedIn(object)
	case !apierrors.IsNotFound(err):
		return s, fmt.Errorf("get AddOnInstallation %s: %w", key, err)
	}
	addOn, err := r.Inputs.AddOn(ctx, key)
	if err != nil {
		return s, err
	}
	s.AddOn = present(addOn)
	if s.Stored != nil && s.AddOn == nil { // the cache may be behind, so the removal is confirmed
		if err := r.confirmAddOn(ctx, s); err != nil {
			return s, err
		}
	}
	if err := r.loadCluster(ctx, evaluator, s); err != nil {
		return s, err
	}
	if s.Stored != nil && !s.Stored.LabeledSince.IsZero() && !s.Labeled { // the same for the removal of the label
		if err := r.confirmCluster(ctx, evaluator, s); err != nil {
			return s, err
		}
	}
	return s, r.loadUsers(ctx, evaluator, s)
}

// present describes a ManagedClusterAddOn, which may be nil.
func present(addOn *addonv1alpha1.ManagedClusterAddOn) *installation.Present {
	if addOn == nil {
		return nil
	}
	return presentBy(&addOn.ObjectMeta)
}

// presentBy describes a ManagedClusterAddOn by its metadata.
func presentBy(addOn *metav1.ObjectMeta) *installation.Present {
	return &installation.Present{
		UID:        addOn.UID,
		Generation: addOn.Generation,
		Ours:       fleet.InstalledByInterlock(addOn),
		Deleted:    !addOn.DeletionTimestamp.IsZero(),
	}
}

func (r *Reconciler) loadCluster(ctx context.Context, evaluator *evaluation.Evaluator, s *subject) error {
	cluster, err := r.Inputs.Cluster(ctx, s.key.Namespace)
	if err != nil {
		return err
	}
	r.describeCluster(evaluator, s, cluster)
	return nil
}

// describeCluster sets the state of the managed cluster, and how the add-on is installed there. cluster is nil if it does not exist.
func (r *Reconciler) describeCluster(evaluator *evaluation.Evaluator, s *subject, cluster *clusterv1.ManagedCluster) {
	switch {
	case cluster == nil || !cluster.DeletionTimestamp.IsZero():
		s.Cluster = installation.ClusterDetached
		return
	case len(evaluator.Denying(cluster.Labels)) > 0:
		s.Cluster = installation.ClusterDenied
	case !meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable),
		!r.FirstPass.Await(cluster.Name, r.Changed, s.key):
		s.Cluster = installation.ClusterUncertain
	}
	s.ClusterUID = cluster.UID
	s.awaited = installation.Awaited(evaluator.Catalog, fleet.InstallLabels(cluster), s.key.Name)
	s.SetConsent(evaluator.Consent(s.key.Name), fleet.HasInstallLabel(cluster, s.key.Name))
}

// loadUsers reads the add-ons on the managed cluster that use the add-on, and those that request its installation.
func (r *Reconciler) loadUsers(ctx context.Context, evaluator *evaluation.Evaluator, s *subject) error {
	s.Use = installation.Unused
	for _, user := range installation.Users(evaluator.Catalog, s.key.Name) {
		key := types.NamespacedName{Namespace: s.key.Namespace, Name: user}
		addOn, err := r.Inputs.AddOn(ctx, key)
		if err != nil {
			return err
		}
		if addOn == nil {
			continue
		}
		assessment := r.Assessments.Last(key)
		if assessment == nil {
			s.use(installation.UseUnknown)
			continue
		}
		s.use(installation.UseBy(evaluator.Catalog, user, s.key.Name, assessment.Findings))
		if !addOn.DeletionTimestamp.IsZero() {
			continue
		}
		if removal, missing := installation.RequestBy(evaluator.Catalog, s.key.Name, assessment.Findings); removal != "" {
			s.dependents = append(s.dependents, key)
			s.Requests = append(s.Requests, dependencyv1alpha1.InstallationRequest{AddOn: user, Removal: removal})
			s.Missing = s.Missing || missing
		}
	}
	return nil
}

// use combines the use by one add-on with the use by the others.
func (s *subject) use(use installation.Use) {
	switch {
	case s.Use == installation.Used || use == installation.Used:
		s.Use = installation.Used
	case use == installation.UseUnknown:
		s.Use = use
	}
}
