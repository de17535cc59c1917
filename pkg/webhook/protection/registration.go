package protection

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/semaphore"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	eventsof "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

// RegistrationPath is the path at which deletions of ClusterManagementAddOns are reviewed.
const RegistrationPath = "/protect-clustermanagementaddon"

// answerForFleetWithin is less than the API server waits for an answer on the whole fleet.
const answerForFleetWithin = 4500 * time.Millisecond

// RegistrationValidator reviews deletions of ClusterManagementAddOns: Kubernetes then deletes their
// ManagedClusterAddOns on all managed clusters.
type RegistrationValidator struct {
	*responder
	reviewer
	// reads lets one review at a time read a fleet, however many are requested.
	reads *semaphore.Weighted
}

var _ admission.Handler = &RegistrationValidator{}

// Handle implements admission.Handler.
func (v *RegistrationValidator) Handle(ctx context.Context, request admission.Request) admission.Response {
	if request.Operation != admissionv1.Delete {
		return admission.Allowed("")
	}
	ctx, cancel := context.WithTimeout(ctx, answerForFleetWithin)
	defer cancel()
	registration, err := deleted(request)
	if err != nil {
		return unchecked(request.Name, err)
	}
	if !registration.DeletionTimestamp.IsZero() {
		return admission.Allowed("")
	}
	review, err := v.review(ctx, registration.Name)
	if err != nil {
		return unchecked(registration.Name, err)
	}
	return v.respond(request, review)
}

// review finds what the deletion would break on the fleet.
func (v *RegistrationValidator) review(ctx context.Context, name string) (found, error) {
	dependents, err := v.declared.dependents(ctx, name)
	if err != nil || len(dependents) == 0 || name == names.AgentAddOn {
		return found{}, err
	}
	if err := v.reads.Acquire(ctx, 1); err != nil {
		return found{}, fmt.Errorf("wait for other reviews: %w", err)
	}
	defer v.reads.Release(1)
	under, err := v.declared.under(ctx)
	if err != nil {
		return found{}, err
	}
	var stored addonv1alpha1.ClusterManagementAddOn
	if err := v.live.Get(ctx, client.ObjectKey{Name: name}, &stored); err != nil {
		return found{}, client.IgnoreNotFound(err)
	}
	on, err := v.onFleet(ctx, name, under.read(dependents))
	if err != nil || len(on) == 0 {
		return found{}, err
	}
	review, err := v.onClusters(ctx, name, under, dependents, on)
	review.object, review.kind, review.named = &stored, eventsof.ClusterManagementAddOn, "clustermanagementaddon "+name
	return review, err
}

// read returns the add-ons of which the verdicts on an add-on's edges have to know: the dependents, and where
// conditions decide whether they are on a cycle, all that they need.
func (d declared) read(dependents []string) []string {
	read := slices.Clone(dependents)
	for _, dependent := range dependents {
		if d.Conditional(dependent) == nil {
			continue
		}
		for _, need := range d.Needs(dependent) {
			read = append(read, need.Name)
		}
	}
	slices.Sort(read)
	return slices.Compact(read)
}

type addOnsOf = map[string]map[string]*addonv1alpha1.ManagedClusterAddOn

// onFleet returns add-ons on all managed clusters where one of them is installed, by cluster and name.
func (v *RegistrationValidator) onFleet(ctx context.Context, installed string, also []string) (addOnsOf, error) {
	var those metav1.PartialObjectMetadataList
	those.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind("ManagedClusterAddOnList"))
	if err := v.live.List(ctx, &those, named(installed)...); err != nil {
		return nil, fmt.Errorf("list add-on %s of the fleet: %w", installed, err)
	}
	on := addOnsOf{}
	for i := range those.Items {
		on[those.Items[i].Namespace] = map[string]*addonv1alpha1.ManagedClusterAddOn{}
	}
	for _, name := range also {
		var all addonv1alpha1.ManagedClusterAddOnList
		if err := v.live.List(ctx, &all, named(name)...); err != nil {
			return nil, fmt.Errorf("list add-on %s of the fleet: %w", name, err)
		}
		for i := range all.Items {
			if there := on[all.Items[i].Namespace]; there != nil {
				there[name] = fleet.LeanAddOn(&all.Items[i])
			}
		}
	}
	return on, nil
}

// named lists objects of one name in all namespaces, from the API server's cache: it would read all of them
// from etcd to answer.
func named(name string) []client.ListOption {
	return []client.ListOption{
		client.MatchingFields{"metadata.name": name},
		&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}},
	}
}

// onClusters finds what breaks on which cluster, by what is done there. What is refused counts first.
func (v *RegistrationValidator) onClusters(
	ctx context.Context, name string, under declared, dependents []string, on addOnsOf,
) (found, error) {
	var clusters clusterv1.ManagedClusterList
	if err := v.live.List(ctx, &clusters, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}}); err != nil {
		return found{}, fmt.Errorf("list managed clusters: %w", err)
	}
	now, broken := v.now(), map[dependencyv1alpha1.Protection]protection.Broken{}
	for i := range clusters.Items {
		cluster := &clusters.Items[i]
		there := on[cluster.Name]
		if len(there) == 0 || !cluster.DeletionTimestamp.IsZero() {
			continue
		}
		mode := cmp.Or(under.policies.Protected(cluster.Labels).Protection, v.mode)
		if mode == dependencyv1alpha1.ProtectionOff {
			continue
		}
		if broken[mode] == nil {
			broken[mode] = protection.Broken{}
		}
		after := removal{Objects: fleet.Objects{Reader: v.live}, removed: name, cluster: cluster, addOns: there, cache: v.cache}
		if err := after.breaks(ctx, under, dependents, now, broken[mode]); err != nil {
			return found{}, err
		}
	}
	for _, mode := range []dependencyv1alpha1.Protection{dependencyv1alpha1.ProtectionEnforce, dependencyv1alpha1.ProtectionWarn} {
		if message := broken[mode].Message(name); message != "" {
			return found{message: message, mode: mode}, nil
		}
	}
	return found{}, nil
}
