// Package snapshot holds all of a hub that verdicts rest on, read once: to evaluate a
// whole fleet without a cache, here or from a file elsewhere.
package snapshot

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/policy"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/dependency/whatif"
	"open-cluster-management.io/interlock/pkg/factsobject"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// Content is what a snapshot consists of: objects as the hub has them, without what no
// verdict rests on.
type Content struct {
	// Taken is when it was read.
	Taken time.Time `json:"taken"`
	// OCMVersion is that of Open Cluster Management on the hub.
	OCMVersion string `json:"ocmVersion,omitempty"`
	// Manager is what addon-manager shows of itself; nil in files of before.
	Manager *Manager `json:"addonManager,omitempty"`
	// Registrations are all ClusterManagementAddOns.
	Registrations []addonv1alpha1.ClusterManagementAddOn `json:"clusterManagementAddOns"`
	// AddOns are the ManagedClusterAddOns of all managed clusters, or of one.
	AddOns   []addonv1alpha1.ManagedClusterAddOn      `json:"managedClusterAddOns"`
	Clusters []clusterv1.ManagedCluster               `json:"managedClusters"`
	Facts    []dependencyv1alpha1.ManagedClusterFacts `json:"managedClusterFacts,omitempty"`
	// FactsNotServed: the hub does not serve their CRD, and declarations need them.
	FactsNotServed bool `json:"managedClusterFactsNotServed,omitempty"`
	// Configs are the AddOnDeploymentConfigs that conditions of dependencies read.
	Configs []addonv1alpha1.AddOnDeploymentConfig `json:"addOnDeploymentConfigs,omitempty"`
	// Templates are the AddOnTemplates, with their versions, what they declare and their
	// add-ons.
	Templates []addonv1alpha1.AddOnTemplate `json:"addOnTemplates,omitempty"`
	// Decisions are the PlacementDecisions, where an add-on is not installed that Placements install and
	// others depend on.
	Decisions []clusterv1beta1.PlacementDecision `json:"placementDecisions,omitempty"`
	// DecisionsRead: they were needed, and could be read.
	DecisionsRead bool `json:"placementDecisionsRead,omitempty"`
	// Policies are all AddOnDependencyPolicies.
	Policies []dependencyv1alpha1.AddOnDependencyPolicy `json:"addOnDependencyPolicies,omitempty"`
	// Installations are the AddOnInstallations, where Interlock may install an add-on that its registration has as Manual.
	Installations []dependencyv1alpha1.AddOnInstallation `json:"addOnInstallations,omitempty"`
	// HubAPIs are those that edges require of the hub, as far as the hub responded.
	HubAPIs []dependencyv1alpha1.APIFact `json:"hubAPIs,omitempty"`
	// Hosting is set where the snapshot is of one managed cluster, and others run agents of its add-ons.
	Hosting Hosting `json:"hostingClusters,omitzero"`
	// PoliciesUnread is why the policies could not be read: what they override is not known.
	PoliciesUnread string `json:"addOnDependencyPoliciesUnread,omitempty"`
}

// Hosting is what the facts rest on of managed clusters that run agents of another one.
type Hosting struct {
	Clusters []clusterv1.ManagedCluster               `json:"managedClusters,omitempty"`
	AddOns   []addonv1alpha1.ManagedClusterAddOn      `json:"managedClusterAddOns,omitempty"`
	Facts    []dependencyv1alpha1.ManagedClusterFacts `json:"managedClusterFacts,omitempty"`
}

// Evaluator evaluates add-ons as registrations declare, under the AddOnTemplates and policies of the content.
func (c *Content) Evaluator(registrations []addonv1alpha1.ClusterManagementAddOn) *evaluation.Evaluator {
	return evaluation.New(catalog.New(registrations, c.Templates...).Under(policy.Read(c.Policies)))
}

// Snapshot is a content, and all that is found in it by name. It must not be changed.
type Snapshot struct {
	Content
	// Declared evaluates the add-ons.
	Declared *evaluation.Evaluator

	settled  *whatif.Evaluation
	objects  map[string]*cluster
	configs  map[types.NamespacedName]map[string]string
	versions map[string]string
	// selected are the clusters that Placements select.
	selected map[types.NamespacedName]sets.Set[string]
	// hosts are the managed clusters of Hosting, and hosted the add-ons of others whose agents a cluster runs.
	hosts   map[string]*cluster
	hosted  map[string][]*addonv1alpha1.ManagedClusterAddOn
	hubAPIs evaluation.APIFacts
}

// cluster is what a snapshot has of a managed cluster.
type cluster struct {
	object *clusterv1.ManagedCluster
	addOns map[string]*addonv1alpha1.ManagedClusterAddOn
	facts  *dependencyv1alpha1.ManagedClusterFacts
	// installations are by the names of the add-ons.
	installations map[string]*dependencyv1alpha1.AddOnInstallation
}

var _ fleet.Reader = &Snapshot{}

// New prepares a content for evaluation.
func New(content Content) *Snapshot {
	content.Taken = content.Taken.UTC() // the same in all reports, wherever it was taken
	s := &Snapshot{
		Content: content, Declared: content.Evaluator(content.Registrations), objects: map[string]*cluster{},
		configs: map[types.NamespacedName]map[string]string{}, versions: map[string]string{},
		selected: map[types.NamespacedName]sets.Set[string]{},
	}
	s.settled = whatif.New(s.Declared)
	s.hosts, s.hosted = map[string]*cluster{}, map[string][]*addonv1alpha1.ManagedClusterAddOn{}
	s.addClusters(s.objects, content.Clusters, content.AddOns, content.Facts)
	s.addClusters(s.hosts, content.Hosting.Clusters, content.Hosting.AddOns, content.Hosting.Facts)
	for i := range content.Installations {
		s.addInstallation(&content.Installations[i])
	}
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
		for _, one := range content.Decisions[i].Status.Decisions {
			s.selected[placement].Insert(one.ClusterName)
		}
	}
	return s
}

// addClusters adds what there is of managed clusters.
func (s *Snapshot) addClusters(
	to map[string]*cluster, clusters []clusterv1.ManagedCluster, addOns []addonv1alpha1.ManagedClusterAddOn,
	facts []dependencyv1alpha1.ManagedClusterFacts,
) {
	at := func(name string) *cluster {
		if to[name] == nil {
			to[name] = &cluster{addOns: map[string]*addonv1alpha1.ManagedClusterAddOn{}}
		}
		return to[name]
	}
	for i := range clusters {
		at(clusters[i].Name).object = &clusters[i]
	}
	for i := range addOns {
		addOn := &addOns[i]
		at(addOn.Namespace).addOns[addOn.Name] = addOn
		if host := fleet.HostingCluster(addOn); host != addOn.Namespace {
			s.hosted[host] = append(s.hosted[host], addOn)
		}
	}
	for i := range facts {
		if one := &facts[i]; factsobject.Key(one.Namespace).Name == one.Name {
			at(one.Namespace).facts = one
		}
	}
}

// has returns what there is of a cluster, empty for an unknown one.
func (s *Snapshot) has(name string) cluster {
	if found := cmp.Or(s.objects[name], s.hosts[name]); found != nil {
		return *found
	}
	return cluster{}
}

// AddOn implements fleet.Reader.
func (s *Snapshot) AddOn(_ context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error) {
	return s.AddOnOn(key), nil
}

// Cluster implements fleet.Reader.
func (s *Snapshot) Cluster(_ context.Context, name string) (*clusterv1.ManagedCluster, error) {
	return s.has(name).object, nil
}

// Config implements fleet.Reader.
func (s *Snapshot) Config(_ context.Context, key types.NamespacedName) (variables map[string]string, read bool, err error) {
	return s.configs[key], true, nil
}

// TemplateVersion implements fleet.Reader.
func (s *Snapshot) TemplateVersion(_ context.Context, name string) (version string, read bool, err error) {
	return s.versions[name], true, nil
}

// OCMVersion implements fleet.Reader.
func (s *Snapshot) OCMVersion(context.Context) (version string, read bool, err error) {
	return s.Content.OCMVersion, true, nil
}

// Selected implements fleet.Reader.
func (s *Snapshot) Selected(_ context.Context, placements []types.NamespacedName, cluster string) (selected, read bool, err error) {
	selected = slices.ContainsFunc(placements, func(placement types.NamespacedName) bool { return s.selected[placement].Has(cluster) })
	return selected, s.DecisionsRead || len(placements) == 0, nil
}

// Facts implements fleet.Reader.
func (s *Snapshot) Facts(ctx context.Context, declared *catalog.Catalog, name string) (evaluation.Facts, error) {
	on := s.has(name)
	return fleet.Agents{Objects: s, Memory: memory{s}}.Facts(ctx, name, fleet.Reported{
		Object: on.facts, NotServed: s.FactsNotServed,
		Needed: fleet.Requestable(declared.RequestsOf(s.placed(name))),
	})
}

// FactsObject is what the agent of a managed cluster has reported; nil: nothing is requested of it, or was read.
func (s *Snapshot) FactsObject(name string) *dependencyv1alpha1.ManagedClusterFacts {
	return s.has(name).facts
}

// placed are the add-ons that may need to know something of a managed cluster.
func (s *Snapshot) placed(name string) (placed catalog.Installed) {
	for _, addOn := range s.has(name).addOns {
		fleet.Place(addOn, name, &placed)
	}
	for _, addOn := range s.hosted[name] {
		fleet.Place(addOn, name, &placed)
	}
	return placed
}

// Requests are what the agent of a managed cluster is requested to report.
func (s *Snapshot) Requests(name string) catalog.Requests {
	return s.Declared.RequestsOf(s.placed(name))
}

// HubAPIs implements fleet.Reader.
func (s *Snapshot) HubAPIs(context.Context) (evaluation.APIFacts, error) { return s.hubAPIs, nil }

// Lost reports whether verdicts on a managed cluster are held because it cannot be reached.
// A cluster without an object can.
func (s *Snapshot) Lost(name string) bool {
	object := s.Object(name)
	return object != nil && s.Policy() == evaluation.OfflineHold && fleet.ClusterStatus(object) == metav1.ConditionUnknown
}

// Object returns a managed cluster, nil where there is none.
func (s *Snapshot) Object(name string) *clusterv1.ManagedCluster { return s.has(name).object }

// AddOnOn returns an add-on on a managed cluster, nil where there is none.
func (s *Snapshot) AddOnOn(key types.NamespacedName) *addonv1alpha1.ManagedClusterAddOn {
	return s.has(key.Namespace).addOns[key.Name]
}

// IsOn reports whether an add-on is installed on a managed cluster.
func (s *Snapshot) IsOn(cluster, addOn string) bool { return s.has(cluster).addOns[addOn] != nil }

// IsInstalled reports whether an add-on is on the managed cluster, or with an empty cluster
// on any.
func (s *Snapshot) IsInstalled(addOn, cluster string) bool {
	if cluster != "" {
		return s.IsOn(cluster, addOn)
	}
	return slices.ContainsFunc(s.AddOns, func(one addonv1alpha1.ManagedClusterAddOn) bool { return one.Name == addOn })
}

// Names returns the names of all managed clusters, ascending: those with an object or
// with add-ons.
func (s *Snapshot) Names() []string { return slices.Sorted(maps.Keys(s.objects)) }

// Installed returns the add-ons of a managed cluster, ascending by name.
func (s *Snapshot) Installed(name string) []*addonv1alpha1.ManagedClusterAddOn {
	addOns := s.has(name).addOns
	installed := make([]*addonv1alpha1.ManagedClusterAddOn, 0, len(addOns))
	for _, addOn := range slices.Sorted(maps.Keys(addOns)) {
		installed = append(installed, addOns[addOn])
	}
	return installed
}

// Evaluated returns a function that returns the verdicts on the edges of an add-on on a
// managed cluster, as addon-manager finds them once all conditions have followed: none
// for an add-on that is not installed or declares nothing.
func (s *Snapshot) Evaluated(name string) func(addOn string) []evaluation.Finding {
	findings := s.settled.Findings(s.Whole(name))
	return func(addOn string) []evaluation.Finding { return findings[addOn] }
}

// Evaluation evaluates whole clusters of the snapshot.
func (s *Snapshot) Evaluation() *whatif.Evaluation { return s.settled }

// Waiting returns the installations and upgrades that wait on a managed cluster.
func (s *Snapshot) Waiting(name string) []fleet.Waiting {
	waiting, err := fleet.Loader{Reader: s}.Waiting(context.Background(), name, slices.Collect(maps.Keys(s.has(name).addOns)))
	if err != nil {
		return nil // this reader has no errors
	}
	return waiting
}

// Whole returns all that is known of a managed cluster, for changes to be tried on.
func (s *Snapshot) Whole(name string) whatif.Cluster {
	var names []string
	for addOn := range s.has(name).addOns {
		names = append(names, addOn)
	}
	loader := fleet.Loader{Reader: s, Memory: memory{s}, Offline: s.Policy()}
	described, addOns, err := loader.Whole(context.Background(), s.Declared, name, names, s.Taken)
	if err != nil {
		return whatif.Cluster{} // this reader has no errors
	}
	return whatif.Cluster{Cluster: described, AddOns: addOns}
}
