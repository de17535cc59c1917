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
	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Cluster is an imagined managed cluster. It is reachable, and its agents have reported.
type Cluster struct {
	// Name is the name of the cluster. The default is cluster1.
	Name string
	// Kubernetes is the version of the cluster, OCM the version of the hub. An empty version is not reported.
	Kubernetes, OCM string
	Labels          map[string]string
	// Claims are the values of the cluster's claims by name.
	Claims map[string]string
	// APIs are the kinds that the cluster serves, each with a version.
	APIs []addonv1alpha1.AddonAPI
	// Fields are the fields that the schema of an API has, out of the fields that dependencies require. An API without an entry has
	// all of them.
	Fields map[addonv1alpha1.AddonAPI][]string
	// Hub are the APIs that the hub serves.
	Hub ServedAPIs
	// HostingClusters are the APIs of other managed clusters, which run agents of add-ons, by the names of these clusters.
	HostingClusters map[string]ServedAPIs
	// AddOns are the installed add-ons.
	AddOns []AddOn
}

// ServedAPIs are the APIs of another cluster than the imagined one. Both fields have the same meaning as in Cluster.
type ServedAPIs struct {
	APIs   []addonv1alpha1.AddonAPI
	Fields map[addonv1alpha1.AddonAPI][]string
}

// AddOn is an add-on that is installed on an imagined cluster. It is available, unless a Required dependency of it fails.
type AddOn struct {
	Name string
	// Version is the version that its agent reports. If it is empty, the version of Template counts, then the version in
	// Annotations, and then the version of the ClusterManagementAddOn.
	Version string
	// Unavailable sets its condition Available to False for a reason of its own.
	Unavailable bool
	// Template is the AddOnTemplate that runs. It is empty if none does. A template that was not read, because it declares nothing,
	// has no version.
	Template string
	// HostingCluster is the other managed cluster that runs its agent in hosted mode. It is empty if the cluster itself runs the
	// agent. A cluster that is not in Cluster.HostingClusters is not registered.
	HostingCluster string
	// Labels and Annotations are the metadata of the ManagedClusterAddOn. Variables are the customizedVariables of its
	// AddOnDeploymentConfig.
	Labels, Annotations, Variables map[string]string
}

// With returns the cluster with the given add-on. It replaces an add-on of the same name.
func (c Cluster) With(addOn AddOn) Cluster {
	changed := c.Without(addOn.Name)
	changed.AddOns = append(changed.AddOns, addOn)
	return changed
}

// Without returns the cluster without the named add-on.
func (c Cluster) Without(addOn string) Cluster {
	c.AddOns = slices.DeleteFunc(slices.Clone(c.AddOns), func(installed AddOn) bool { return installed.Name == addOn })
	return c
}

// evaluationTime is the time at which clusters are evaluated. No verdict depends on it, because no condition is awaited.
var evaluationTime = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// imagine returns the cluster in the form in which the hub would load it.
func (d *Declarations) imagine(c Cluster) (whatif.Cluster, error) {
	for _, platform := range [][2]string{{"Kubernetes", c.Kubernetes}, {"OCM", c.OCM}} {
		if _, err := versions.ParsePlatform(platform[1]); platform[1] != "" && err != nil {
			return whatif.Cluster{}, fmt.Errorf("%s: %w; 1.36.0 is one", platform[0], err)
		}
	}
	cluster := whatif.Cluster{Cluster: evaluation.Cluster{
		Name: cmp.Or(c.Name, "cluster1"), Available: metav1.ConditionTrue, Now: evaluationTime, Offline: evaluation.OfflineHold,
		KubernetesVersion: c.Kubernetes, OCMVersion: c.OCM, Labels: c.Labels, Claims: c.Claims,
	}, AddOns: make(map[string]evaluation.Observation, len(c.AddOns))}
	cluster.Facts.Versions = map[string]evaluation.VersionFact{}
	for i := range c.AddOns {
		addOn := &c.AddOns[i]
		if _, duplicate := cluster.AddOns[addOn.Name]; duplicate {
			return whatif.Cluster{}, fmt.Errorf("AddOns[%d]: %q is listed twice", i, addOn.Name)
		}
		observed, err := d.observe(addOn)
		if err != nil {
			return whatif.Cluster{}, fmt.Errorf("AddOns[%d]: %w", i, err)
		}
		cluster.AddOns[addOn.Name] = observed
		cluster.Facts.Versions[addOn.Name] = evaluation.VersionFact{Version: addOn.Version}
	}
	installed := slices.Collect(maps.Keys(cluster.AddOns))
	cluster.Facts.APIs = ServedAPIs{c.APIs, c.Fields}.facts(d.evaluator.Requests(installed...).APIs)
	cluster.HubAPIs = c.Hub.facts(d.evaluator.HubAPIs())
	cluster.Hosts = map[string]evaluation.HostingCluster{}
	requested := d.evaluator.RequestsOf(catalog.Installed{Hosting: installed}).APIs
	for i := range c.AddOns {
		name := c.AddOns[i].HostingCluster
		served, registered := c.HostingClusters[name]
		cluster.Hosts[name] = evaluation.HostingCluster{
			Missing: !registered, Available: metav1.ConditionTrue, Facts: evaluation.Facts{APIs: served.facts(requested)},
		}
	}
	return cluster, nil
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
	if owner, _, declares := d.evaluator.Template(addOn.Template); declares && owner != addOn.Name {
		return observed, fmt.Errorf("AddOnTemplate %q is one of add-on %q, not of %q", addOn.Template, owner, addOn.Name)
	}
	observed.Template = versions.Templates{Name: addOn.Template, Running: d.templates[addOn.Template]}
	return observed, nil
}

// facts returns the facts about the requested APIs.
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

// fields returns the facts about the fields of an API that is served in the given versions.
func (c ServedAPIs) fields(api addonv1alpha1.DependencyAPI, versions []string) map[string]evaluation.FieldFact {
	if len(versions) == 0 {
		versions = []string{""}
	}
	facts := make(map[string]evaluation.FieldFact, len(api.Fields))
	for _, path := range api.Fields {
		fact := evaluation.FieldFact{Exists: metav1.ConditionFalse}
		for _, version := range versions {
			schema, listed := c.Fields[addonv1alpha1.AddonAPI{Group: api.Group, Version: version, Kind: api.Kind}]
			if !listed || slices.Contains(schema, path) {
				fact.Exists, fact.Versions = metav1.ConditionTrue, append(fact.Versions, version)
			}
		}
		facts[path] = fact
	}
	return facts
}
