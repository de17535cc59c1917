package snapshot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// Take reads a hub with a live client. Without a cluster it reads the add-ons of all
// managed clusters. It only reads configs, templates and facts when a dependency needs
// them, so that users need no rights beyond that; what also has is to be tried.
func Take(ctx context.Context, hub client.Reader, cluster string, also ...Also) (*Snapshot, error) {
	content := Content{Taken: time.Now()}
	var err error
	if content.Registrations, err = (fleet.Objects{Reader: hub, Page: page}).AddOns(ctx); err != nil {
		return nil, err
	}
	for i := range content.Registrations {
		lean := fleet.LeanRegistration(&content.Registrations[i])
		lean.Spec.InstallStrategy = content.Registrations[i].Spec.InstallStrategy // what installs it
		fleet.KeepTakenConfigs(lean, &content.Registrations[i])
		content.Registrations[i] = *lean
	}
	t := &taking{
		hub: hub, namespace: cluster, into: &content, placements: slices.ContainsFunc(also, func(one Also) bool { return one.Placements }),
		objects: slices.ContainsFunc(also, func(one Also) bool { return one.Objects }),
		writers: slices.ContainsFunc(also, func(one Also) bool { return one.Writers }),
	}
	declared, err := t.declared(ctx, also)
	if err != nil {
		return nil, err
	}
	t.unread = newUnread(declared)
	if err := errors.Join(t.addOns(ctx), t.clusters(ctx)); err != nil {
		return nil, err
	}
	if err := t.inputs(ctx, declared); err != nil {
		return nil, err
	}
	content.Manager = readManager(ctx, hub, content.Taken)
	return New(content), nil
}

// Also is what is to be tried on a snapshot, and may need more to be read.
type Also struct {
	Registrations []addonv1alpha1.ClusterManagementAddOn
	Policies      []dependencyv1alpha1.AddOnDependencyPolicy
	// Templates replace those of their names, or are new.
	Templates []addonv1alpha1.AddOnTemplate
	// AllTemplates: an add-on may run any of its AddOnTemplates, so all matter.
	AllTemplates bool
	// Placements: any add-on may be installed or removed, so what all of their Placements select matters.
	Placements bool
	// Objects: add-ons may be removed that provide APIs, so it matters how many objects of these exist.
	Objects bool
	// Writers: what was installed for others may be removed, so it matters who has written it since.
	Writers bool
}

// taking is a snapshot that is being read.
type taking struct {
	hub       client.Reader
	namespace string
	into      *Content
	unread    *unread
	// placements: what all Placements of add-ons select is read.
	placements bool
	// objects: how many objects exist of APIs that add-ons provide is read.
	objects bool
	// writers: the managed fields are kept of what Interlock or the plugin has installed.
	writers bool
}

// declared returns what is declared. Policies and AddOnTemplates come first, because what else is read may
// depend on what they declare.
func (t *taking) declared(ctx context.Context, also []Also) (*evaluation.Evaluator, error) {
	if err := t.policies(ctx); err != nil {
		return nil, err
	}
	tried := Content{Policies: slices.Clone(t.into.Policies)}
	registered := slices.Clone(t.into.Registrations)
	for _, one := range also {
		registered, tried.Policies = append(registered, one.Registrations...), append(tried.Policies, one.Policies...)
		tried.Templates = append(tried.Templates, one.Templates...)
	}
	declared := tried.Evaluator(registered)
	allTemplates := slices.ContainsFunc(also, func(one Also) bool { return one.AllTemplates })
	if !declared.ReadsTemplates() && !allTemplates {
		return declared, nil
	}
	var err error
	t.into.Templates, err = Templates(ctx, t.hub)
	tried.Templates = Replaced(t.into.Templates, tried.Templates)
	return tried.Evaluator(registered), err
}

// Replaced returns templates, with others in place of those of their names.
func Replaced(templates, others []addonv1alpha1.AddOnTemplate) []addonv1alpha1.AddOnTemplate {
	return append(slices.DeleteFunc(slices.Clone(templates), func(one addonv1alpha1.AddOnTemplate) bool {
		return slices.ContainsFunc(others, func(other addonv1alpha1.AddOnTemplate) bool { return other.Name == one.Name })
	}), others...)
}

// policies reads what administrators override. A hub of an earlier Interlock has no such kind, and a user who could
// read everything there may have no right to this one.
func (t *taking) policies(ctx context.Context) error {
	err := Each(ctx, t.hub, "addondependencypolicies", "", func(list *dependencyv1alpha1.AddOnDependencyPolicyList) {
		for i := range list.Items {
			t.into.Policies = append(t.into.Policies, *fleet.LeanPolicy(&list.Items[i]))
		}
	})
	switch {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return nil
	case apierrors.IsForbidden(err):
		t.into.PoliciesUnread = err.Error()
		return nil
	}
	return err
}

func (t *taking) addOns(ctx context.Context) error {
	return Each(ctx, t.hub, "managedclusteraddons", t.namespace, func(list *addonv1alpha1.ManagedClusterAddOnList) {
		if more := list.GetRemainingItemCount(); more != nil && t.into.AddOns == nil {
			t.into.AddOns = make([]addonv1alpha1.ManagedClusterAddOn, 0, len(list.Items)+int(*more)) // to grow, it would be copied
		}
		for i := range list.Items {
			lean := withNamespace(&list.Items[i])
			t.unread.removeFrom(lean)
			if t.writers && lean.Labels[addonv1alpha1.InstalledByLabel] != "" {
				lean.ManagedFields = list.Items[i].ManagedFields
			}
			t.into.AddOns = append(t.into.AddOns, *lean)
		}
	})
}

// withNamespace keeps where the add-on's agent runs, too: people are sent there. That of most
// add-ons is the default, which takes no memory.
func withNamespace(full *addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn {
	lean := fleet.LeanAddOn(full)
	if availability.InstallNamespace(full) != availability.InstallNamespace(lean) {
		lean.Status.Namespace = full.Status.Namespace
		lean.Spec.InstallNamespace = full.Spec.InstallNamespace //nolint:staticcheck // deprecated, and still where OCM installs an add-on
	}
	return lean
}

// clusters reads the managed clusters: all, or the one. One right, to list, suffices for all
// verbs, so the one is a list too, which the hub filters.
func (t *taking) clusters(ctx context.Context) error {
	return Each(ctx, t.hub, "managedclusters", "", func(list *clusterv1.ManagedClusterList) {
		for i := range list.Items {
			lean := LeanCluster(&list.Items[i])
			lean.UID, lean.ResourceVersion = "", ""
			t.into.Clusters = append(t.into.Clusters, *lean)
		}
	}, Named(t.namespace)...)
}

// inputs reads what only some declarations need.
func (t *taking) inputs(ctx context.Context, declared *evaluation.Evaluator) error {
	for _, needed := range []struct {
		of   input.Set
		read func(context.Context) error
	}{
		{input.OCM, t.ocm},
		{input.Facts, t.facts},
		{input.Variables, t.configs},
		{input.HubAPIs, func(ctx context.Context) error { return t.hubAPIs(ctx, declared) }},
		{input.Hosting, func(ctx context.Context) error { return t.hosting(ctx, declared) }},
	} {
		if !declared.AnyInput(needed.of) {
			continue
		}
		if err := needed.read(ctx); err != nil {
			return err
		}
	}
	if t.objects && !declared.AnyInput(input.Facts) && len(declared.Provided(declared.AddOns()...)) > 0 {
		if err := t.facts(ctx); err != nil && !apierrors.IsForbidden(err) { // they only warn
			return err
		}
	}
	if err := t.consents(ctx, declared); err != nil {
		return err
	}
	missing := t.missing(declared)
	if t.placements {
		missing = placementsOf(declared)
	}
	if len(missing) > 0 {
		if err := t.decisions(ctx, missing); err != nil {
			return err
		}
	}
	if !declared.AnyInput(input.OCM) && declared.AnyInput(input.Versions|input.Version) && t.namesOCM() {
		return t.ocm(ctx)
	}
	return nil
}

// missing are the Placements that install a dependency where it is not installed.
func (t *taking) missing(declared *evaluation.Evaluator) sets.Set[types.NamespacedName] {
	there := make(map[types.NamespacedName]bool, len(t.into.AddOns))
	for i := range t.into.AddOns {
		there[client.ObjectKeyFromObject(&t.into.AddOns[i])] = true
	}
	placements := sets.New[types.NamespacedName]()
	for i := range t.into.AddOns {
		dependent := &t.into.AddOns[i]
		for _, need := range declared.Needs(dependent.Name) {
			if need.Inputs.Any(input.Placements) && !there[types.NamespacedName{Namespace: dependent.Namespace, Name: need.Name}] {
				placements.Insert(declared.Install(need.Name).Placements...)
			}
		}
	}
	return placements
}

// placementsOf are the Placements that install any add-on.
func placementsOf(declared *evaluation.Evaluator) sets.Set[types.NamespacedName] {
	placements := sets.New[types.NamespacedName]()
	for _, addOn := range declared.AddOns() {
		placements.Insert(declared.Install(addOn).Placements...)
	}
	return placements
}

// decisions reads which clusters these Placements select. They only explain: it is no error that a
// user may not read them, or that a hub does not serve them.
func (t *taking) decisions(ctx context.Context, of sets.Set[types.NamespacedName]) error {
	for _, namespace := range sets.List(namespacesOf(of)) {
		err := Each(ctx, t.hub, "placementdecisions", namespace, func(list *clusterv1beta1.PlacementDecisionList) {
			for i := range list.Items {
				if lean := t.leanDecision(&list.Items[i]); of.Has(fleet.PlacementOf(lean)) {
					t.into.Decisions = append(t.into.Decisions, *lean)
				}
			}
		})
		if err != nil {
			t.into.Decisions = nil
			return ctx.Err()
		}
	}
	t.into.DecisionsRead = true
	return nil
}

// leanDecision keeps the clusters that the snapshot is of.
func (t *taking) leanDecision(full *clusterv1beta1.PlacementDecision) *clusterv1beta1.PlacementDecision {
	lean := fleet.LeanDecision(full)
	lean.UID, lean.ResourceVersion = "", ""
	lean.Status.Decisions = slices.DeleteFunc(lean.Status.Decisions, func(one clusterv1beta1.ClusterDecision) bool {
		return t.namespace != "" && one.ClusterName != t.namespace
	})
	return lean
}

// namesOCM reports whether the version of any add-on is that of Open Cluster Management.
func (t *taking) namesOCM() bool {
	named := func(annotations map[string]string) bool {
		version := versions.In(annotations)
		return versions.Sources{AddOn: version}.UseOCM()
	}
	return slices.ContainsFunc(t.into.Registrations, func(o addonv1alpha1.ClusterManagementAddOn) bool { return named(o.Annotations) }) ||
		slices.ContainsFunc(t.into.AddOns, func(o addonv1alpha1.ManagedClusterAddOn) bool { return named(o.Annotations) }) ||
		slices.ContainsFunc(t.into.Templates, func(o addonv1alpha1.AddOnTemplate) bool { return named(o.Annotations) }) ||
		slices.ContainsFunc(t.into.Facts, func(o dependencyv1alpha1.ManagedClusterFacts) bool {
			return slices.ContainsFunc(o.Status.AddOns, func(reported dependencyv1alpha1.AddOnFact) bool {
				return strings.TrimSpace(reported.Version) == versions.OCM
			})
		})
}

func (t *taking) ocm(ctx context.Context) (err error) {
	t.into.OCMVersion, _, err = fleet.Objects{Reader: t.hub}.OCMVersion(ctx)
	return err
}

// facts reads what agents report. A hub without Interlock's CRD has no such kind.
func (t *taking) facts(ctx context.Context) error {
	err := Each(ctx, t.hub, "managedclusterfacts", t.namespace, func(list *dependencyv1alpha1.ManagedClusterFactsList) {
		for i := range list.Items {
			facts := &list.Items[i]
			facts.CreationTimestamp, facts.ManagedFields = metav1.NewTime(fleet.RequestedAt(facts)), nil
		}
		t.into.Facts = append(t.into.Facts, list.Items...)
	})
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		t.into.FactsNotServed = true
		return nil
	}
	return err
}

func (t *taking) configs(ctx context.Context) error {
	return Each(ctx, t.hub, "addondeploymentconfigs", "", func(list *addonv1alpha1.AddOnDeploymentConfigList) {
		for i := range list.Items {
			if lean := fleet.LeanConfig(&list.Items[i]); t.unread.removeFromConfig(lean) {
				t.into.Configs = append(t.into.Configs, *lean)
			}
		}
	})
}

// Templates reads the AddOnTemplates of a hub. That of an early OCM has no such kind.
func Templates(ctx context.Context, hub client.Reader) (all []addonv1alpha1.AddOnTemplate, err error) {
	err = Each(ctx, hub, "addontemplates", "", func(list *addonv1alpha1.AddOnTemplateList) {
		for i := range list.Items {
			lean := fleet.LeanTemplate(&list.Items[i])
			lean.UID, lean.ResourceVersion = "", ""
			all = append(all, *lean)
		}
	}, client.Limit(pageOfTemplates))
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil, nil
	}
	return all, err
}
