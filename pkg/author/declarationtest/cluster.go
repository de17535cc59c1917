package declarationtest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/dependency/whatif"
)

// Cluster is an imagined managed cluster. It is reachable, and its agents have reported.
type Cluster struct {
	// Name is cluster1 where it is empty.
	Name string
	// Kubernetes is the version of the cluster, OCM that of the hub. Where one is empty,
	// it is not reported.
	Kubernetes, OCM string
	Labels          map[string]string
	// Claims are the values of the cluster's claims by name.
	Claims map[string]string
	// APIs are the kinds that the cluster serves, each with a version.
	APIs []addonv1alpha1.AddonAPI
	// Fields are the fields that the schema of such an API has, of those that dependencies
	// require. An API without an entry has all of them.
	Fields map[addonv1alpha1.AddonAPI][]string
	// Hub are the APIs that the hub serves.
	Hub ServedAPIs
	// HostingClusters are the APIs of other managed clusters, which run agents of add-ons, by the names of these clusters.
	HostingClusters map[string]ServedAPIs
	// AddOns are those that are installed.
	AddOns []AddOn
}

// ServedAPIs are the APIs of another cluster than the imagined one. Both fields are as those of Cluster.
type ServedAPIs struct {
	APIs   []addonv1alpha1.AddonAPI
	Fields map[addonv1alpha1.AddonAPI][]string
}

// AddOn is one that is installed on an imagined cluster. It is available, unless a Required
// dependency of it fails.
type AddOn struct {
	Name string
	// Version is what its agent reports. Where it is empty, the version of Template counts,
	// then that in Annotations, and then that of the ClusterManagementAddOn.
	Version string
	// Unavailable: its condition Available is False for a reason of its own.
	Unavailable bool
	// Template is the AddOnTemplate that runs; empty: none. One that was not read, because it
	// declares nothing, has no version.
	Template string
	// HostingCluster is the other managed cluster that runs its agent in hosted mode; empty: the cluster itself does.
	// One that Cluster.HostingClusters does not have is not registered.
	HostingCluster string
	// Labels and Annotations are those of the ManagedClusterAddOn, Variables the
	// customizedVariables of its AddOnDeploymentConfig.
	Labels, Annotations, Variables map[string]string
}

// With returns the cluster with this add-on instead of the one of the same name, if any.
func (c Cluster) With(addOn AddOn) Cluster {
	others := c.Without(addOn.Name)
	others.AddOns = append(others.AddOns, addOn)
	return others
}

// Without returns the cluster without the named add-on.
func (c Cluster) Without(addOn string) Cluster {
	c.AddOns = slices.DeleteFunc(slices.Clone(c.AddOns), func(one AddOn) bool { return one.Name == addOn })
	return c
}

// imagined is when clusters are evaluated. No verdict depends on it: nothing is awaited.
var imagined = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// imagine returns the cluster as the hub would know it.
func (d *Declarations) imagine(c Cluster) (whatif.Cluster, error) {
	for _, platform := range [][2]string{{"Kubernetes", c.Kubernetes}, {"OCM", c.OCM}} {
		if _, err := versions.ParsePlatform(platform[1]); platform[1] != "" && err != nil {
			return whatif.Cluster{}, fmt.Errorf("%s: %w; 1.36.0 is one", platform[0], err)
		}
	}
	on := whatif.Cluster{Cluster: evaluation.Cluster{
		Name: cmp.Or(c.Name, "cluster1"), Available: metav1.ConditionTrue, Now: imagined, Offline: evaluation.OfflineHold,
		KubernetesVersion: c.Kubernetes, OCMVersion: c.OCM, Labels: c.Labels, Claims: c.Claims,
	}, AddOns: make(map[string]evaluation.Observation, len(c.AddOns))}
	on.Facts.Versions = map[string]evaluation.VersionFact{}
	for i := range c.AddOns {
		addOn := &c.AddOns[i]
		if _, twice := on.AddOns[addOn.Name]; twice {
			return whatif.Cluster{}, fmt.Errorf("AddOns[%d]: %q is listed twice", i, addOn.Name)
		}
		observed, err := d.observe(addOn)
		if err != nil {
			return whatif.Cluster{}, fmt.Errorf("AddOns[%d]: %w", i, err)
		}
		on.AddOns[addOn.Name] = observed
		on.Facts.Versions[addOn.Name] = evaluation.VersionFact{Version: addOn.Version}
	}
	installed := slices.Collect(maps.Keys(on.AddOns))
	on.Facts.APIs = ServedAPIs{c.APIs, c.Fields}.facts(d.declared.Requests(installed...).APIs)
	on.HubAPIs = c.Hub.facts(d.declared.HubAPIs())
	on.Hosts = map[string]evaluation.HostingCluster{}
	requested := d.declared.RequestsOf(catalog.Installed{Hosting: installed}).APIs
	for i := range c.AddOns {
		name := c.AddOns[i].HostingCluster
		served, registered := c.HostingClusters[name]
		on.Hosts[name] = evaluation.HostingCluster{
			Missing: !registered, Available: metav1.ConditionTrue, Facts: evaluation.Facts{APIs: served.facts(requested)},
		}
	}
	return on, nil
}

func (d *Declarations) observe(addOn *AddOn) (evaluation.Observation, error) {
	observed := evaluation.Observation{
		Name: addOn.Name, Installed: true, HostingCluster: addOn.HostingCluster,
		Labels: addOn.Labels, Annotations: addOn.Annotations, Config: addOn.Variables,
		Available: &metav1.Condition{Type: addonv1alpha1.ManagedClusterAddOnConditionAvailable, Status: metav1.ConditionTrue},
	}
	version := versions.In(addOn.Annotations)
	observed.Version, observed.FormerVersion = version.Current, version.Former
	if addOn.Unavailable {
		observed.Available.Status, observed.Available.Reason = metav1.ConditionFalse, "Imagined"
	}
	if addOn.Template == "" {
		return observed, nil
	}
	if of, _, declares := d.declared.Template(addOn.Template); declares && of != addOn.Name {
		return observed, fmt.Errorf("AddOnTemplate %q is one of add-on %q, not of %q", addOn.Template, of, addOn.Name)
	}
	observed.Template = versions.Templates{Name: addOn.Template, Running: d.templates[addOn.Template]}
	return observed, nil
}

// facts are what is known of these APIs once they are requested.
func (c ServedAPIs) facts(requested []addonv1alpha1.DependencyAPI) evaluation.APIFacts {
	facts := evaluation.APIFacts{}
	for _, api := range requested {
		fact := evaluation.APIFact{Served: metav1.ConditionFalse}
		for _, served := range c.APIs {
			if served.Group != api.Group || served.Kind != api.Kind {
				continue
			}
			if served.Version != "" {
				fact.Versions = append(fact.Versions, served.Version)
			}
			if api.Version == "" || api.Version == served.Version {
				fact.Served = metav1.ConditionTrue
			}
		}
		fact.Fields = c.fields(api, fact.Versions)
		facts[api.AddonAPI] = fact
	}
	return facts
}

// fields are what is known of the fields of an API that is served in these versions.
func (c ServedAPIs) fields(api addonv1alpha1.DependencyAPI, versions []string) map[string]evaluation.FieldFact {
	if len(versions) == 0 {
		versions = []string{""}
	}
	facts := make(map[string]evaluation.FieldFact, len(api.Fields))
	for _, path := range api.Fields {
		fact := evaluation.FieldFact{Found: metav1.ConditionFalse}
		for _, version := range versions {
			schema, listed := c.Fields[addonv1alpha1.AddonAPI{Group: api.Group, Version: version, Kind: api.Kind}]
			if !listed || slices.Contains(schema, path) {
				fact.Found, fact.Versions = metav1.ConditionTrue, append(fact.Versions, version)
			}
		}
		facts[path] = fact
	}
	return facts
}
