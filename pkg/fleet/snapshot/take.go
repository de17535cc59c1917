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
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// Take reads a hub with a live client. If the cluster is empty, it reads the add-ons of all
// managed clusters. It reads configs, templates and facts only if a dependency needs them, so
// that users need no other rights. The additions are changes to try on the snapshot.
func Take(ctx context.Context, hub client.Reader, cluster string, additions ...Additions) (*Snapshot, error) {
	content := Content{Taken: time.Now()}
	t := &taking{
		hub:        hub,
		namespace:  cluster,
		content:    &content,
		placements: slices.ContainsFunc(additions, func(addition Additions) bool { return addition.Placements }),
		objects:    slices.ContainsFunc(additions, func(addition Additions) bool { return addition.Objects }),
		writers:    slices.ContainsFunc(additions, func(addition Additions) bool { return addition.Writers }),
	}
	if err := t.registrations(ctx); err != nil {
		return nil, err
	}
	evaluator, err := t.declarations(ctx, additions)
	if err != nil {
		return nil, err
	}
	t.unread = newUnread(evaluator)
	if err := errors.Join(t.addOns(ctx), t.clusters(ctx)); err != nil {
		return nil, err
	}
	if err := t.inputs(ctx, evaluator); err != nil {
		return nil, err
	}
	content.Manager = readManager(ctx, hub, content.Taken)
	return New(content), nil
}

// Additions has changes to try on a snapshot. They may require more objects to be read.
type Additions struct {
	Registrations []addonv1alpha1.ClusterManagementAddOn
	Policies      []dependencyv1alpha1.AddOnDependencyPolicy
	// Templates are new, or replace templates of the same name.
	Templates []addonv1alpha1.AddOnTemplate
	// AllTemplates requires all AddOnTemplates, because an add-on may run any of its AddOnTemplates.
	AllTemplates bool
	// Placements requires the decisions of all Placements, because any add-on may be installed or removed.
	Placements bool
	// Objects requires the number of objects of provided APIs, because add-ons that provide APIs may be removed.
	Objects bool
	// Writers requires the field managers of add-ons that were installed as dependencies, because they may be removed.
	Writers bool
}

// taking is a snapshot that is being read.
type taking struct {
	hub       client.Reader
	namespace string
	content   *Content
	unread    *unread
	// placements is true if the decisions of all Placements of add-ons are read.
	placements bool
	// objects is true if the number of objects of provided APIs is read.
	objects bool
	// writers is true if the managed fields of add-ons that Interlock or the plugin installed are kept.
	writers bool
}

// registrations reads all ClusterManagementAddOns.
func (t *taking) registrations(ctx context.Context) error {
	registrations, err := (fleet.Objects{Reader: t.hub, Page: page}).AddOns(ctx)
	if err != nil {
		return err
	}
	for i := range registrations {
		lean := fleet.LeanRegistration(&registrations[i])
		lean.Spec.InstallStrategy = registrations[i].Spec.InstallStrategy // reports show it
		fleet.KeepTakenConfigs(lean, &registrations[i])
		registrations[i] = *lean
	}
	t.content.Registrations = registrations
	return nil
}

// declarations reads policies and AddOnTemplates, and returns the evaluator for all declarations. It comes first, because the
// other objects to read depend on the declarations.
func (t *taking) declarations(ctx context.Context, additions []Additions) (*evaluation.Evaluator, error) {
	if err := t.policies(ctx); err != nil {
		return nil, err
	}
	changed := Content{Policies: slices.Clone(t.content.Policies)}
	registrations := slices.Clone(t.content.Registrations)
	for _, addition := range additions {
		registrations = append(registrations, addition.Registrations...)
		changed.Policies = append(changed.Policies, addition.Policies...)
		changed.Templates = append(changed.Templates, addition.Templates...)
	}
	evaluator := changed.Evaluator(registrations)
	allTemplates := slices.ContainsFunc(additions, func(addition Additions) bool { return addition.AllTemplates })
	if !evaluator.ReadsTemplates() && !allTemplates {
		return evaluator, nil
	}
	var err error
	t.content.Templates, err = Templates(ctx, t.hub)
	changed.Templates = Replaced(t.content.Templates, changed.Templates)
	return changed.Evaluator(registrations), err
}

// Replaced returns the templates and the replacements, without templates that a replacement of the same name replaces.
func Replaced(templates, replacements []addonv1alpha1.AddOnTemplate) []addonv1alpha1.AddOnTemplate {
	return append(slices.DeleteFunc(slices.Clone(templates), func(template addonv1alpha1.AddOnTemplate) bool {
		return slices.ContainsFunc(replacements, func(r addonv1alpha1.AddOnTemplate) bool { return r.Name == template.Name })
	}), replacements...)
}

// policies reads the AddOnDependencyPolicies. A hub without Interlock has no such kind, and users may lack the right to read them.
func (t *taking) policies(ctx context.Context) error {
	err := Each(ctx, t.hub, "addondependencypolicies", "", func(list *dependencyv1alpha1.AddOnDependencyPolicyList) {
		for i := range list.Items {
			t.content.Policies = append(t.content.Policies, *fleet.LeanPolicy(&list.Items[i]))
		}
	})
	switch {
	case t.notInstalled(ctx, err):
		t.content.WithoutInterlock = true
		return nil
	case apierrors.IsForbidden(err):
		t.content.PoliciesUnread = err.Error()
		return nil
	}
	return err
}

func (t *taking) addOns(ctx context.Context) error {
	if store, ok := t.hub.(Store); ok && !t.writers {
		if stored, ok := store.StoredAddOns(t.namespace); ok {
			t.content.AddOns = store.Reduced().from(t.namespace, stored, t.unread)
			return nil
		}
	}
	return Each(ctx, t.hub, "managedclusteraddons", t.namespace, func(list *addonv1alpha1.ManagedClusterAddOnList) {
		if remaining := list.GetRemainingItemCount(); remaining != nil && t.content.AddOns == nil {
			t.content.AddOns = make([]*addonv1alpha1.ManagedClusterAddOn, 0, len(list.Items)+int(*remaining)) // saves copies when it grows
		}
		for i := range list.Items {
			lean := LeanAddOn(&list.Items[i])
			t.unread.removeFrom(lean)
			t.unread.keepVariables(lean)
			if t.writers && lean.Labels[addonv1alpha1.InstalledByLabel] != "" {
				lean.ManagedFields = list.Items[i].ManagedFields
			}
			t.content.AddOns = append(t.content.AddOns, lean)
		}
	})
}

// LeanAddOn returns the parts of an add-on that verdicts depend on. For messages, it also has the namespace of its agent, and the
// finalizers of an add-on that is being removed. Most add-ons have neither, which takes no memory.
func LeanAddOn(full *addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn {
	lean := fleet.LeanAddOn(full)
	if availability.InstallNamespace(full) != availability.InstallNamespace(lean) {
		lean.Status.Namespace = full.Status.Namespace
		lean.Spec.InstallNamespace = full.Spec.InstallNamespace //nolint:staticcheck // deprecated, and still where OCM installs an add-on
	}
	if full.DeletionTimestamp != nil {
		lean.Finalizers = full.Finalizers
	}
	return lean
}

// clusters reads all managed clusters, or a single one. It lists a single one, too, and lets the
// hub filter, so that users need only the right to list.
func (t *taking) clusters(ctx context.Context) error {
	return Each(ctx, t.hub, "managedclusters", "", func(list *clusterv1.ManagedClusterList) {
		for i := range list.Items {
			lean := LeanCluster(&list.Items[i])
			lean.UID, lean.ResourceVersion = "", ""
			t.content.Clusters = append(t.content.Clusters, *lean)
		}
	}, Named(t.namespace)...)
}

// inputs reads the objects that only some declarations need.
func (t *taking) inputs(ctx context.Context, evaluator *evaluation.Evaluator) error {
	for _, loader := range []struct {
		inputs input.Set
		read   func(context.Context) error
	}{
		{input.OCM, t.ocm},
		{input.Facts, t.facts},
		{input.Variables, t.configs},
		{input.HubAPIs, func(ctx context.Context) error { return t.hubAPIs(ctx, evaluator) }},
		{input.Hosting, func(ctx context.Context) error { return t.hosting(ctx, evaluator) }},
	} {
		if !evaluator.AnyInput(loader.inputs) {
			continue
		}
		if err := loader.read(ctx); err != nil {
			return err
		}
	}
	if t.objects && !evaluator.AnyInput(input.Facts) && len(evaluator.Provided(evaluator.AddOns()...)) > 0 {
		if err := t.facts(ctx); err != nil && !apierrors.IsForbidden(err) { // they only warn
			return err
		}
	}
	if err := t.consents(ctx, evaluator); err != nil {
		return err
	}
	missing := t.missing(evaluator)
	if t.placements {
		missing = placementsOf(evaluator)
	}
	if len(missing) > 0 {
		if err := t.decisions(ctx, missing); err != nil {
			return err
		}
	}
	if !evaluator.AnyInput(input.OCM) && evaluator.AnyInput(input.Versions|input.Version) && t.namesOCM() {
		return t.ocm(ctx)
	}
	return nil
}

// missing returns the Placements of dependencies that are missing on a cluster.
func (t *taking) missing(evaluator *evaluation.Evaluator) sets.Set[types.NamespacedName] {
	installed := make(map[types.NamespacedName]bool, len(t.content.AddOns))
	for _, addOn := range t.content.AddOns {
		installed[client.ObjectKeyFromObject(addOn)] = true
	}
	placements := sets.New[types.NamespacedName]()
	for _, dependent := range t.content.AddOns {
		for _, need := range evaluator.Needs(dependent.Name) {
			if need.Inputs.Any(input.Placements) && !installed[types.NamespacedName{Namespace: dependent.Namespace, Name: need.Name}] {
				placements.Insert(evaluator.Install(need.Name).Placements...)
			}
		}
	}
	return placements
}

// placementsOf returns the Placements that install any add-on.
func placementsOf(evaluator *evaluation.Evaluator) sets.Set[types.NamespacedName] {
	placements := sets.New[types.NamespacedName]()
	for _, addOn := range evaluator.AddOns() {
		placements.Insert(evaluator.Install(addOn).Placements...)
	}
	return placements
}

// decisions reads the PlacementDecisions of these Placements. It is no error that a user may not
// read them, or that a hub does not serve them, because they only explain.
func (t *taking) decisions(ctx context.Context, placements sets.Set[types.NamespacedName]) error {
	for _, namespace := range sets.List(namespacesOf(placements)) {
		err := Each(ctx, t.hub, "placementdecisions", namespace, func(list *clusterv1beta1.PlacementDecisionList) {
			for i := range list.Items {
				if lean := t.leanDecision(&list.Items[i]); placements.Has(fleet.PlacementOf(lean)) {
					t.content.Decisions = append(t.content.Decisions, *lean)
				}
			}
		})
		if err != nil {
			t.content.Decisions = nil
			return ctx.Err()
		}
	}
	t.content.DecisionsRead = true
	return nil
}

// leanDecision returns a lean decision with only the clusters of the snapshot.
func (t *taking) leanDecision(full *clusterv1beta1.PlacementDecision) *clusterv1beta1.PlacementDecision {
	lean := fleet.LeanDecision(full)
	lean.UID, lean.ResourceVersion = "", ""
	lean.Status.Decisions = slices.DeleteFunc(lean.Status.Decisions, func(decision clusterv1beta1.ClusterDecision) bool {
		return t.namespace != "" && decision.ClusterName != t.namespace
	})
	return lean
}

// namesOCM reports whether any add-on declares the version of Open Cluster Management as its own version.
func (t *taking) namesOCM() bool {
	named := func(annotations map[string]string) bool {
		version := versions.In(annotations)
		return versions.Sources{AddOn: version}.UseOCM()
	}
	return slices.ContainsFunc(t.content.Registrations, func(o addonv1alpha1.ClusterManagementAddOn) bool { return named(o.Annotations) }) ||
		slices.ContainsFunc(t.content.AddOns, func(o *addonv1alpha1.ManagedClusterAddOn) bool { return named(o.Annotations) }) ||
		slices.ContainsFunc(t.content.Templates, func(o addonv1alpha1.AddOnTemplate) bool { return named(o.Annotations) }) ||
		slices.ContainsFunc(t.content.Facts, func(o dependencyv1alpha1.ManagedClusterFacts) bool {
			return slices.ContainsFunc(o.Status.AddOns, func(reported dependencyv1alpha1.AddOnFact) bool {
				return strings.TrimSpace(reported.Version) == versions.OCM
			})
		})
}

func (t *taking) ocm(ctx context.Context) error {
	version, _, err := fleet.Objects{Reader: t.hub}.OCMVersion(ctx)
	t.content.OCMVersion = version
	if apierrors.IsForbidden(err) {
		t.content.OCMVersionUnread = err.Error()
		return nil
	}
	return err
}

// facts reads the reports of agents. A hub without Interlock's CRD has no such kind.
func (t *taking) facts(ctx context.Context) error {
	err := Each(ctx, t.hub, "managedclusterfacts", t.namespace, func(list *dependencyv1alpha1.ManagedClusterFactsList) {
		for i := range list.Items {
			facts := &list.Items[i]
			facts.CreationTimestamp, facts.ManagedFields = metav1.NewTime(fleet.RequestedAt(facts)), nil
		}
		t.content.Facts = append(t.content.Facts, list.Items...)
	})
	if t.notInstalled(ctx, err) {
		t.content.FactsNotServed = true
		return nil
	}
	return err
}

func (t *taking) configs(ctx context.Context) error {
	return Each(ctx, t.hub, "addondeploymentconfigs", "", func(list *addonv1alpha1.AddOnDeploymentConfigList) {
		for i := range list.Items {
			if lean := fleet.LeanConfig(&list.Items[i]); t.unread.removeFromConfig(lean) {
				t.content.Configs = append(t.content.Configs, *lean)
			}
		}
	})
}

// Templates reads the AddOnTemplates of a hub. A hub with an early OCM has no such kind.
func Templates(ctx context.Context, hub client.Reader) ([]addonv1alpha1.AddOnTemplate, error) {
	var templates []addonv1alpha1.AddOnTemplate
	err := Each(ctx, hub, "addontemplates", "", func(list *addonv1alpha1.AddOnTemplateList) {
		for i := range list.Items {
			lean := fleet.LeanTemplate(&list.Items[i])
			lean.UID, lean.ResourceVersion = "", ""
			templates = append(templates, *lean)
		}
	}, client.Limit(pageOfTemplates))
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil, nil
	}
	return templates, err
}
