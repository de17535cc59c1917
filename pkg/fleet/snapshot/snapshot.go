// Package snapshot reads all objects of a hub that verdicts depend on, once. A snapshot
// evaluates a whole fleet without a cache, at once or later from a file.
package snapshot

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/factsobject"
)

// Content is the content of a snapshot: the objects of the hub, without fields that no
// verdict depends on.
type Content struct {
	// Taken is the time at which the snapshot was read.
	Taken time.Time `json:"taken"`
	// OCMVersion is the version of Open Cluster Management on the hub.
	OCMVersion string `json:"ocmVersion,omitempty"`
	// Manager is the state of addon-manager. It is nil in files of earlier versions.
	Manager *Manager `json:"addonManager,omitempty"`
	// Registrations are all ClusterManagementAddOns.
	Registrations []addonv1alpha1.ClusterManagementAddOn `json:"clusterManagementAddOns"`
	// AddOns are the ManagedClusterAddOns of all managed clusters, or of a single one.
	AddOns   []*addonv1alpha1.ManagedClusterAddOn     `json:"managedClusterAddOns"`
	Clusters []clusterv1.ManagedCluster               `json:"managedClusters"`
	Facts    []dependencyv1alpha1.ManagedClusterFacts `json:"managedClusterFacts,omitempty"`
	// FactsNotServed is true if declarations need facts, and the hub does not serve their CRD.
	FactsNotServed bool `json:"managedClusterFactsNotServed,omitempty"`
	// Configs are the AddOnDeploymentConfigs that conditions of dependencies read.
	Configs []addonv1alpha1.AddOnDeploymentConfig `json:"addOnDeploymentConfigs,omitempty"`
	// Templates are the AddOnTemplates, with only their versions, declarations and add-ons.
	Templates []addonv1alpha1.AddOnTemplate `json:"addOnTemplates,omitempty"`
	// Decisions are the PlacementDecisions. They are read if a dependency that Placements install is missing on a cluster.
	Decisions []clusterv1beta1.PlacementDecision `json:"placementDecisions,omitempty"`
	// DecisionsRead is true if decisions were needed, and could be read.
	DecisionsRead bool `json:"placementDecisionsRead,omitempty"`
	// Placements are the Placements of add-ons that edges install (install: Auto). By them, owners consent to it.
	Placements []clusterv1beta1.Placement `json:"placements,omitempty"`
	// PlacementsRead is true if Placements were needed, and could be read.
	PlacementsRead bool `json:"placementsRead,omitempty"`
	// Policies are all AddOnDependencyPolicies.
	Policies []dependencyv1alpha1.AddOnDependencyPolicy `json:"addOnDependencyPolicies,omitempty"`
	// Installations are the AddOnInstallations. They are read if an owner lets Interlock install an add-on.
	Installations []dependencyv1alpha1.AddOnInstallation `json:"addOnInstallations,omitempty"`
	// HubAPIs are the facts about APIs that edges require of the hub, as far as the hub responded.
	HubAPIs []dependencyv1alpha1.APIFact `json:"hubAPIs,omitempty"`
	// Hosting has the hosting clusters of a snapshot of a single managed cluster.
	Hosting Hosting `json:"hostingClusters,omitzero"`
	// OCMVersionUnread is the error with which the version of OCM could not be read. Requirements on it are unknown then.
	OCMVersionUnread string `json:"ocmVersionUnread,omitempty"`
	// WithoutInterlock is true if the hub does not serve Interlock's APIs, so Interlock is not installed there.
	WithoutInterlock bool `json:"withoutInterlock,omitempty"`
	// PoliciesUnread is the error with which the policies could not be read. Their overrides are unknown then.
	PoliciesUnread string `json:"addOnDependencyPoliciesUnread,omitempty"`
	// Hidden has the parts that Permit left out. Files do not have it.
	Hidden Hidden `json:"-"`
}

// Hosting has the objects of managed clusters that run agents of another managed cluster.
type Hosting struct {
	Clusters []clusterv1.ManagedCluster               `json:"managedClusters,omitempty"`
	AddOns   []*addonv1alpha1.ManagedClusterAddOn     `json:"managedClusterAddOns,omitempty"`
	Facts    []dependencyv1alpha1.ManagedClusterFacts `json:"managedClusterFacts,omitempty"`
}

// Evaluator returns an evaluator for these registrations with the AddOnTemplates, policies and Placements of the content.
func (c *Content) Evaluator(registrations []addonv1alpha1.ClusterManagementAddOn) *evaluation.Evaluator {
	templates := catalog.Templates{Items: c.Templates, Unread: c.Hidden.Templates}
	declarations := catalog.New(nil).Renew(registrations, templates).WithPolicies(policy.Read(c.Policies))
	return evaluation.New(declarations.Consented(catalog.Placements{Items: c.Placements, Unread: !c.PlacementsRead}))
}

// Snapshot is a content with its objects indexed by name. It must not be changed.
type Snapshot struct {
	Content
	// Declared evaluates the add-ons by their declarations.
	Declared *evaluation.Evaluator

	settled *whatif.Evaluation
	objects map[string]*cluster
	// names are the sorted names of objects.
	names    []string
	configs  map[types.NamespacedName]map[string]string
	versions map[string]string
	// selected has the clusters that each Placement selects.
	selected map[types.NamespacedName]sets.Set[string]
	// hosts has the managed clusters of Hosting. hosted has the add-ons of other clusters that a hosting cluster runs.
	hosts   map[string]*cluster
	hosted  map[string][]*addonv1alpha1.ManagedClusterAddOn
	hubAPIs evaluation.APIFacts
	// kept has the findings of managed clusters by name. It is nil if findings are not kept.
	kept *sync.Map
	// onEvaluation is called with the name of each managed cluster whose state is read for an evaluation, also in parallel. It may be nil.
	onEvaluation func(cluster string)
}

// cluster has the objects of a managed cluster.
type cluster struct {
	object *clusterv1.ManagedCluster
	// addOns are ordered by name.
	addOns []*addonv1alpha1.ManagedClusterAddOn
	facts  *dependencyv1alpha1.ManagedClusterFacts
	// installations has the AddOnInstallations by the names of the add-ons.
	installations map[string]*dependencyv1alpha1.AddOnInstallation
}

var _ fleet.Reader = &Snapshot{}

// New prepares a content for evaluation.
func New(content Content) *Snapshot {
	content.Taken = content.Taken.UTC() // so that reports do not depend on the local time zone
	s := &Snapshot{
		Content:  content,
		Declared: content.Evaluator(content.Registrations),
		objects:  map[string]*cluster{},
		configs:  map[types.NamespacedName]map[string]string{},
		versions: map[string]string{},
		selected: map[types.NamespacedName]sets.Set[string]{},
		hosts:    map[string]*cluster{},
		hosted:   map[string][]*addonv1alpha1.ManagedClusterAddOn{},
	}
	s.settled = whatif.New(s.Declared)
	s.addClusters(s.objects, content.Clusters, content.AddOns, content.Facts)
	s.addClusters(s.hosts, content.Hosting.Clusters, content.Hosting.AddOns, content.Hosting.Facts)
	for i := range content.Installations {
		s.addInstallation(&content.Installations[i])
	}
	s.names = slices.Sorted(maps.Keys(s.objects))
	s.hubAPIs = fleet.APIFactsOf(content.HubAPIs)
	for i := range content.Configs {
		config := &content.Configs[i]
		s.configs[types.NamespacedName{Namespace: config.Namespace, Name: config.Name}] = fleet.Variables(config)
	}
	for i := range content.Templates {
		template := &content.Templates[i]
		s.versions[template.Name] = versions.OfTemplate(template.Annotations, template.Labels)
	}
	for i := range content.Decisions {
		placement := fleet.PlacementOf(&content.Decisions[i])
		if s.selected[placement] == nil {
			s.selected[placement] = sets.New[string]()
		}
		for _, decision := range content.Decisions[i].Status.Decisions {
			s.selected[placement].Insert(decision.ClusterName)
		}
	}
	return s
}

// addClusters indexes the objects of managed clusters in the target.
func (s *Snapshot) addClusters(
	target map[string]*cluster, clusters []clusterv1.ManagedCluster, addOns []*addonv1alpha1.ManagedClusterAddOn,
	facts []dependencyv1alpha1.ManagedClusterFacts,
) {
	ensure := func(name string) *cluster {
		if target[name] == nil {
			target[name] = &cluster{}
		}
		return target[name]
	}
	for i := range clusters {
		ensure(clusters[i].Name).object = &clusters[i]
	}
	for _, addOn := range addOns {
		if host := fleet.HostingCluster(addOn); host != addOn.Namespace {
			s.hosted[host] = append(s.hosted[host], addOn)
		}
	}
	for i := range facts {
		if object := &facts[i]; factsobject.Key(object.Namespace).Name == object.Name {
			ensure(object.Namespace).facts = object
		}
	}
	for _, addOn := range slices.Backward(addOns) { // of add-ons of the same name, which only a file can have, the last counts
		objects := ensure(addOn.Namespace)
		objects.addOns = append(objects.addOns, addOn)
	}
	for _, objects := range target {
		slices.SortStableFunc(objects.addOns, func(a, b *addonv1alpha1.ManagedClusterAddOn) int { return cmp.Compare(a.Name, b.Name) })
		objects.addOns = slices.CompactFunc(objects.addOns, func(a, b *addonv1alpha1.ManagedClusterAddOn) bool { return a.Name == b.Name })
	}
}

// addOn returns an add-on. It is nil if there is none.
func (c cluster) addOn(name string) *addonv1alpha1.ManagedClusterAddOn {
	index, ok := slices.BinarySearchFunc(c.addOns, name, func(addOn *addonv1alpha1.ManagedClusterAddOn, name string) int {
		return cmp.Compare(addOn.Name, name)
	})
	if !ok {
		return nil
	}
	return c.addOns[index]
}

// addOnNames returns the names of the add-ons.
func (c cluster) addOnNames() []string {
	names := make([]string, 0, len(c.addOns))
	for _, addOn := range c.addOns {
		names = append(names, addOn.Name)
	}
	return names
}

// cluster returns the objects of a managed cluster. It is empty for an unknown cluster.
func (s *Snapshot) cluster(name string) cluster {
	if objects := cmp.Or(s.objects[name], s.hosts[name]); objects != nil {
		return *objects
	}
	return cluster{}
}

// AddOn implements fleet.Reader.
func (s *Snapshot) AddOn(_ context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error) {
	return s.AddOnOn(key), nil
}

// Cluster implements fleet.Reader.
func (s *Snapshot) Cluster(_ context.Context, name string) (*clusterv1.ManagedCluster, error) {
	return s.cluster(name).object, nil
}

// MayHaveCluster implements fleet.Partial.
func (s *Snapshot) MayHaveCluster(name string) bool {
	return s.Hidden.Clusters && s.cluster(name).object == nil
}

// Config implements fleet.Reader.
func (s *Snapshot) Config(_ context.Context, key types.NamespacedName) (map[string]string, bool, error) {
	return s.configs[key], !s.Hidden.Configs, nil
}

// TemplateVersion implements fleet.Reader.
func (s *Snapshot) TemplateVersion(_ context.Context, name string) (string, bool, error) {
	return s.versions[name], !s.Hidden.Templates, nil
}

// OCMVersion implements fleet.Reader.
func (s *Snapshot) OCMVersion(context.Context) (string, bool, error) {
	return s.Content.OCMVersion, s.OCMVersionUnread == "", nil
}

// Selected implements fleet.Reader.
func (s *Snapshot) Selected(_ context.Context, placements []types.NamespacedName, cluster string) (bool, bool, error) {
	selected := slices.ContainsFunc(placements, func(placement types.NamespacedName) bool { return s.selected[placement].Has(cluster) })
	return selected, s.DecisionsRead || len(placements) == 0, nil
}

// Facts implements fleet.Reader.
func (s *Snapshot) Facts(ctx context.Context, declarations *catalog.Catalog, name string) (evaluation.Facts, error) {
	if s.WithoutInterlock || s.Hidden.Facts {
		return s.factsWithoutAgent(name), nil
	}
	objects := s.cluster(name)
	return fleet.Agents{Objects: s, Memory: memory{s}}.Facts(ctx, name, fleet.Reported{
		Object:    objects.facts,
		NotServed: s.FactsNotServed,
		Needed:    fleet.Requestable(declarations.RequestsOf(s.placed(name))),
	})
}

// FactsObject returns the ManagedClusterFacts of a managed cluster. It is nil if there is none, or if it was not read.
func (s *Snapshot) FactsObject(name string) *dependencyv1alpha1.ManagedClusterFacts {
	return s.cluster(name).facts
}

// placed returns the add-ons that may need facts of a managed cluster.
func (s *Snapshot) placed(name string) catalog.Installed {
	var placed catalog.Installed
	for _, addOn := range s.cluster(name).addOns {
		fleet.Place(addOn, name, &placed)
	}
	for _, addOn := range s.hosted[name] {
		fleet.Place(addOn, name, &placed)
	}
	return placed
}

// Requests returns the facts that the agent of a managed cluster has to report.
func (s *Snapshot) Requests(name string) catalog.Requests {
	return s.Declared.RequestsOf(s.placed(name))
}

// HubAPIs implements fleet.Reader.
func (s *Snapshot) HubAPIs(context.Context) (evaluation.APIFacts, error) { return s.hubAPIs, nil }

// Lost reports whether verdicts on a managed cluster are held because it cannot be reached.
// A cluster without an object counts as reachable.
func (s *Snapshot) Lost(name string) bool {
	object := s.Object(name)
	return object != nil && s.Policy() == evaluation.OfflineHold && fleet.ClusterStatus(object) == metav1.ConditionUnknown
}

// Object returns a managed cluster. It is nil if there is none.
func (s *Snapshot) Object(name string) *clusterv1.ManagedCluster { return s.cluster(name).object }

// AddOnOn returns an add-on on a managed cluster. It is nil if there is none.
func (s *Snapshot) AddOnOn(key types.NamespacedName) *addonv1alpha1.ManagedClusterAddOn {
	return s.cluster(key.Namespace).addOn(key.Name)
}

// IsOn reports whether an add-on is installed on a managed cluster.
func (s *Snapshot) IsOn(cluster, addOn string) bool { return s.cluster(cluster).addOn(addOn) != nil }

// IsInstalled reports whether an add-on is on the managed cluster. If the cluster is empty,
// it reports whether the add-on is on any.
func (s *Snapshot) IsInstalled(addOn, cluster string) bool {
	if cluster != "" {
		return s.IsOn(cluster, addOn)
	}
	return slices.ContainsFunc(s.AddOns, func(installed *addonv1alpha1.ManagedClusterAddOn) bool { return installed.Name == addOn })
}

// Names returns the sorted names of all managed clusters that have an object or add-ons.
func (s *Snapshot) Names() []string { return slices.Clone(s.names) }

// Installed returns the add-ons of a managed cluster, ascending by name. Callers must not change the list.
func (s *Snapshot) Installed(name string) []*addonv1alpha1.ManagedClusterAddOn {
	return s.cluster(name).addOns
}

// Evaluated returns a function that returns the findings on the edges of an add-on on a
// managed cluster. They are the findings of addon-manager after all conditions are updated.
// There are none for an add-on that is not installed or declares nothing.
func (s *Snapshot) Evaluated(name string) func(addOn string) []evaluation.Finding {
	findings := s.findings(name)
	return func(addOn string) []evaluation.Finding { return findings[addOn] }
}

// KeepFindings keeps the findings on each managed cluster, for several reports on the same snapshot. Without it, each report evaluates all
// clusters, and needs less memory.
func (s *Snapshot) KeepFindings() {
	if s.kept == nil {
		s.kept = &sync.Map{}
	}
}

// findings returns the findings on the edges of all add-ons on a managed cluster.
func (s *Snapshot) findings(name string) map[string][]evaluation.Finding {
	if s.kept == nil {
		return s.settled.Findings(s.Whole(name))
	}
	if kept, ok := s.kept.Load(name); ok {
		findings, _ := kept.(map[string][]evaluation.Finding) // nothing else is stored
		return findings
	}
	findings := s.settled.Findings(s.Whole(name))
	s.kept.Store(name, findings)
	return findings
}

// Evaluation returns the evaluation of whole clusters.
func (s *Snapshot) Evaluation() *whatif.Evaluation { return s.settled }

// Waiting returns the waiting installations and upgrades on a managed cluster.
func (s *Snapshot) Waiting(name string) []fleet.Waiting {
	waiting, err := fleet.Loader{Reader: s}.Waiting(context.Background(), name, s.cluster(name).addOnNames())
	if err != nil {
		return nil // this reader has no errors
	}
	return waiting
}

// OnEvaluation sets a function that is called with the name of each managed cluster whose state is read for an evaluation.
// It may be called in parallel.
func (s *Snapshot) OnEvaluation(call func(cluster string)) { s.onEvaluation = call }

// Whole returns the whole state of a managed cluster, as the base for changes to try.
func (s *Snapshot) Whole(name string) whatif.Cluster {
	if s.onEvaluation != nil {
		s.onEvaluation(name)
	}
	names := s.cluster(name).addOnNames()
	loader := fleet.Loader{Reader: s, Memory: memory{s}, Offline: s.Policy()}
	described, addOns, err := loader.Whole(context.Background(), s.Declared, name, names, s.Taken)
	if err != nil {
		return whatif.Cluster{} // this reader has no errors
	}
	return whatif.Cluster{Cluster: described, AddOns: addOns}
}
