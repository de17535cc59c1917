package ondemand

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
)

// cacheDelay is the time after which a decision is repeated because the cache was behind.
const cacheDelay = time.Second

// reviewed is the time after which a contradiction is reviewed again, at the latest. It can change without a different assessment.
const reviewed = time.Minute

// errCacheBehind is the failure of an installation if the managed cluster has add-ons, or labels that install them, that the
// cache does not have yet. They could contradict the add-on.
var errCacheBehind = errors.New("the cache is behind the managed cluster's add-ons")

// decide decides on an installation. It reads expensive inputs only if a step follows: first from caches, and then, within
// the bounds of the fleet, from the API server.
func (r *Reconciler) decide(
	ctx context.Context, evaluator *evaluation.Evaluator, s *subject, now time.Time,
) (installation.Decision, error) {
	decision, err := r.preview(ctx, evaluator, s, now)
	switch forgets := s.Stored != nil && decision.Desired == nil; {
	case err != nil, decision.Step == installation.Rest && !forgets:
		return decision, err
	case decision.Step == installation.Rest:
		return r.confirmForgotten(ctx, evaluator, s, now)
	}
	clusters, err := r.clusterCount(ctx, now)
	if err != nil {
		return installation.Decision{}, err
	}
	if retry := r.fleet.reserve(s.key.Namespace, clusters, now); !retry.IsZero() {
		return decision.Delayed(s.Stored, retry), nil
	}
	if err := r.confirm(ctx, evaluator, s, decision.Step); err != nil {
		return installation.Decision{}, err
	}
	return installation.Decide(s.Inputs, now), nil
}

// confirmForgotten decides again by the API server before an AddOnInstallation is deleted. Otherwise, a label or an add-on
// that the cache does not have yet would never be removed. If another step follows, the cache is behind.
func (r *Reconciler) confirmForgotten(
	ctx context.Context, evaluator *evaluation.Evaluator, s *subject, now time.Time,
) (installation.Decision, error) {
	if err := errors.Join(r.confirmCluster(ctx, evaluator, s), r.confirmAddOn(ctx, s)); err != nil {
		return installation.Decision{}, err
	}
	decision := installation.Decide(s.Inputs, now)
	if decision.Step != installation.Rest {
		return installation.Decision{Desired: s.Stored, NextCheck: now.Add(cacheDelay)}, nil
	}
	return decision, nil
}

// confirm reads the inputs of a step from the API server, because caches may be behind.
func (r *Reconciler) confirm(ctx context.Context, evaluator *evaluation.Evaluator, s *subject, step installation.Step) error {
	reviewed := s.awaited
	if err := r.Election.Confirm(ctx); err != nil {
		return err
	}
	if err := r.confirmStored(ctx, s); err != nil {
		return err
	}
	if err := r.confirmCluster(ctx, evaluator, s); err != nil {
		return err
	}
	if err := r.confirmConsent(ctx, evaluator, s); err != nil {
		return err
	}
	if step == installation.Remove {
		return r.confirmRemoval(ctx, evaluator, s)
	}
	if !sets.New(reviewed...).HasAll(s.awaited...) {
		return errCacheBehind
	}
	if err := loadLimit(ctx, r.Live, evaluator, s); err != nil {
		return err
	}
	return r.confirmInstallation(ctx, evaluator, s)
}

// confirmStored reads the AddOnInstallation. A user may have deleted it to take over the add-on. If the cache has none, it is
// created before the step, and the API server refuses a second one.
func (r *Reconciler) confirmStored(ctx context.Context, s *subject) error {
	if s.object == nil {
		return nil
	}
	object := &dependencyv1alpha1.AddOnInstallation{}
	switch err := r.Live.Get(ctx, s.key, object); {
	case apierrors.IsNotFound(err):
		s.object, s.Stored = nil, nil
	case err != nil:
		return fmt.Errorf("read AddOnInstallation %s: %w", s.key, err)
	default:
		s.object, s.Stored = object, storedIn(object)
	}
	return nil
}

// preview decides on an installation by the caches, without the bounds of the fleet.
func (r *Reconciler) preview(
	ctx context.Context, evaluator *evaluation.Evaluator, s *subject, now time.Time,
) (installation.Decision, error) {
	s.Approved, s.RemovalApproved = true, true
	decision := installation.Decide(s.Inputs, now)
	if decision.Step == installation.Rest {
		return decision, nil
	}
	if err := r.loadApproval(ctx, evaluator, s, now); err != nil {
		return decision, err
	}
	if err := loadLimit(ctx, r.Inputs, evaluator, s); err != nil {
		return decision, err
	}
	if decision = installation.Decide(s.Inputs, now); decision.Step != installation.Install {
		return decision, nil
	}
	contradiction, next, err := r.Assessor.Contradiction(ctx, evaluator, s.key, s.awaited, now)
	if err != nil {
		return decision, err
	}
	if s.Contradiction = contradiction.Message; !contradiction.Reviewed {
		s.Cluster = installation.ClusterUncertain
	}
	if decision = installation.Decide(s.Inputs, now); decision.Step == installation.Rest && decision.NextCheck.IsZero() {
		decision.NextCheck = now.Add(reviewed)
		if next.After(now) && next.Before(decision.NextCheck) {
			decision.NextCheck = next
		}
	}
	return decision, nil
}

// confirmConsent reads whether the owner still consents. A new catalog follows a change of the consent, and enqueues the
// affected add-ons.
func (r *Reconciler) confirmConsent(ctx context.Context, evaluator *evaluation.Evaluator, s *subject) error {
	registered := &addonv1alpha1.ClusterManagementAddOn{}
	switch err := r.Live.Get(ctx, types.NamespacedName{Name: s.key.Name}, registered); {
	case apierrors.IsNotFound(err):
		s.Consents = false
	case err != nil:
		return fmt.Errorf("read ClusterManagementAddOn %s: %w", s.key.Name, err)
	default:
		s.Consents = s.Consents && evaluator.Has(registered) && stillConsents(evaluator, registered, s.ByLabel)
	}
	return nil
}

// confirmInstallation reads whether the dependents still request the installation, and which add-ons other writers have
// installed on the managed cluster.
func (r *Reconciler) confirmInstallation(ctx context.Context, evaluator *evaluation.Evaluator, s *subject) error {
	for _, request := range s.Requests {
		current, err := declarations.Current(ctx, r.Live, evaluator, request.AddOn)
		if err != nil {
			return err
		}
		if !current {
			s.Cluster = installation.ClusterUncertain
		}
	}
	reviewed, err := r.Inputs.OnCluster(ctx, s.key.Namespace)
	if err != nil {
		return err
	}
	addOns := &metav1.PartialObjectMetadataList{}
	addOns.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind("ManagedClusterAddOnList"))
	if err := r.Live.List(ctx, addOns, client.InNamespace(s.key.Namespace)); err != nil {
		return fmt.Errorf("list add-ons on managed cluster %s: %w", s.key.Namespace, err)
	}
	s.AddOn = nil
	for i := range addOns.Items {
		switch key := client.ObjectKeyFromObject(&addOns.Items[i]); {
		case key == s.key:
			s.AddOn = presentBy(&addOns.Items[i].ObjectMeta)
		case !slices.Contains(reviewed, key):
			return errCacheBehind
		}
	}
	return nil
}

// stillConsents reports whether the owner of an add-on consents in its stored registration.
func stillConsents(evaluator *evaluation.Evaluator, registered *addonv1alpha1.ClusterManagementAddOn, byLabel bool) bool {
	install := catalog.InstallOf(registered)
	if !byLabel {
		return install.OnDemand
	}
	return !slices.ContainsFunc(evaluator.Labeled(registered.Name).Placements, func(placement types.NamespacedName) bool {
		return !slices.Contains(install.Placements, placement)
	})
}

// confirmCluster reads the managed cluster: its availability, the policies for it, and its label.
func (r *Reconciler) confirmCluster(ctx context.Context, evaluator *evaluation.Evaluator, s *subject) error {
	cluster := &clusterv1.ManagedCluster{}
	switch err := r.Live.Get(ctx, types.NamespacedName{Name: s.key.Namespace}, cluster); {
	case apierrors.IsNotFound(err):
		cluster = nil
	case err != nil:
		return fmt.Errorf("read ManagedCluster %s: %w", s.key.Namespace, err)
	}
	r.describeCluster(evaluator, s, cluster)
	return nil
}

// confirmAddOn reads the add-on. The cache may not have it yet, or may still have it.
func (r *Reconciler) confirmAddOn(ctx context.Context, s *subject) error {
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	switch err := r.Live.Get(ctx, s.key, addOn); {
	case apierrors.IsNotFound(err):
		addOn = nil
	case err != nil:
		return fmt.Errorf("read ManagedClusterAddOn %s: %w", s.key, err)
	}
	s.AddOn = present(addOn)
	return nil
}

// confirmRemoval reads the add-ons on a managed cluster, their declarations, and the writers of the add-on from the API
// server.
func (r *Reconciler) confirmRemoval(ctx context.Context, evaluator *evaluation.Evaluator, s *subject) error {
	var list addonv1alpha1.ManagedClusterAddOnList
	if err := r.Live.List(ctx, &list, client.InNamespace(s.key.Namespace)); err != nil {
		return fmt.Errorf("list add-ons on managed cluster %s: %w", s.key.Namespace, err)
	}
	s.AddOn = nil
	for i := range list.Items {
		user := &list.Items[i]
		if user.Name == s.key.Name {
			s.AddOn, s.version = present(user), user.ResourceVersion
			s.AddOn.TakenOver = takenOver(user, s.ByLabel)
			continue
		}
		use, err := r.currentUse(ctx, evaluator, client.ObjectKeyFromObject(user), s.key.Name)
		if err != nil {
			return err
		}
		s.use(use)
	}
	return nil
}

// takenOver reports whether another writer has taken over an add-on. For an add-on that OCM installed, only its
// configuration counts, because other writers than Interlock have always written its labels.
func takenOver(addOn *addonv1alpha1.ManagedClusterAddOn, byLabel bool) bool {
	if byLabel {
		return installation.Configured(addOn.ManagedFields)
	}
	return installation.TakenOver(addOn.ManagedFields, addonv1alpha1.InstalledByInterlock)
}

// currentUse returns the use of an add-on by another add-on on the managed cluster, by its current declaration.
func (r *Reconciler) currentUse(
	ctx context.Context, evaluator *evaluation.Evaluator, user types.NamespacedName, addOn string,
) (installation.Use, error) {
	current, err := declarations.Current(ctx, r.Live, evaluator, user.Name)
	if err != nil || !current {
		return installation.UseUnknown, err
	}
	if !installation.MayUse(evaluator.Catalog, user.Name, addOn) {
		return installation.Unused, nil
	}
	assessment := r.Assessments.Last(user)
	if assessment == nil {
		return installation.UseUnknown, nil
	}
	return installation.UseBy(evaluator.Catalog, user.Name, addOn, assessment.Findings), nil
}
