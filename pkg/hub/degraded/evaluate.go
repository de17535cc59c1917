package degraded

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// Configs reports whether AddOnDeploymentConfigs can be read.
type Configs interface {
	Ready() bool
}

// OCM has the version of Open Cluster Management on the hub, empty where it is not
// set, and whether it has been read.
type OCM interface {
	Version() (version string, read bool)
}

// Facts has what the agents of managed clusters have reported.
type Facts interface {
	Facts(ctx context.Context, catalog *dependency.Catalog, cluster string) (dependency.Facts, error)
}

// Templates has the versions of AddOnTemplates. Ready reports whether they have
// been read.
type Templates interface {
	Ready() bool
	Version(template string) string
}

// evaluate loads what the findings rest on from the cache and finds them.
// What no edge of the add-on looks at is not loaded.
func (r *Reconciler) evaluate(ctx context.Context, catalog *dependency.Catalog, key types.NamespacedName, now time.Time) ([]dependency.Finding, error) {
	cluster := dependency.Cluster{Offline: r.Offline, Now: now}
	if !catalog.Declaration(key.Name).Empty() {
		var err error
		if cluster, err = r.describe(ctx, catalog, key, cluster); err != nil {
			return nil, err
		}
	}
	versioned := catalog.Declaration(key.Name).Uses().Any(dependency.UsesVersion)
	var failure error
	observe := func(addOn string) dependency.Observation {
		name := types.NamespacedName{Namespace: key.Namespace, Name: addOn}
		observed, err := r.observe(ctx, catalog, name)
		if err == nil && versioned {
			observed.Template, err = r.templateVersions(ctx, name)
		}
		if err != nil {
			failure = err
		}
		return observed
	}
	findings := catalog.Evaluate(key.Name, cluster, observe)
	return findings, failure
}

// describe adds what the edges of the add-on use of the cluster.
func (r *Reconciler) describe(ctx context.Context, catalog *dependency.Catalog, key types.NamespacedName, known dependency.Cluster) (dependency.Cluster, error) {
	name, uses := key.Namespace, catalog.Uses(key.Name)
	const ofCluster = dependency.UsesLabels | dependency.UsesClaims | dependency.UsesKubernetes
	cluster := known
	if r.Offline == dependency.OfflineHold || uses.Any(ofCluster) {
		managed, err := r.Fleet.Cluster(ctx, name)
		if err != nil {
			return dependency.Cluster{}, err
		}
		cluster = fleet.Describe(managed, uses)
		cluster.Offline, cluster.Now = known.Offline, known.Now
		cluster.Back = r.Outages.Observe(name, cluster.Available)
	}
	cluster.Name = name
	if uses.Any(dependency.UsesOCM) {
		version, found := r.OCM.Version()
		cluster.OCMVersion, cluster.OCMUnread = version, !found
	}
	if uses.Any(dependency.UsesFacts) && r.Facts != nil {
		reported, err := r.Facts.Facts(ctx, catalog, name)
		if err != nil {
			return dependency.Cluster{}, err
		}
		cluster.Facts = reported
	}
	return cluster, nil
}

func (r *Reconciler) observe(ctx context.Context, catalog *dependency.Catalog, key types.NamespacedName) (dependency.Observation, error) {
	observed, err := r.Fleet.Observe(ctx, key)
	if dependency.LeftByLoss(observed.Available) {
		observed.Found = r.Outages.Found(key)
	}
	if err != nil || !catalog.Declaration(key.Name).Uses().Any(dependency.UsesConfig) {
		return observed, err
	}
	if !r.Configs.Ready() {
		observed.ConfigUnread = true
		return observed, nil
	}
	observed.Config, err = r.Fleet.Config(ctx, key)
	return observed, err
}

// templateVersions are the versions of the AddOnTemplates of an add-on. An add-on
// without one needs no template to be read.
func (r *Reconciler) templateVersions(ctx context.Context, key types.NamespacedName) (dependency.TemplateVersions, error) {
	templates, err := r.Fleet.Templates(ctx, key)
	switch {
	case err != nil || templates == (fleet.Templates{}):
		return dependency.TemplateVersions{}, err
	case templates.Running == "":
		templates.Running = r.rollouts.from(key)
	}
	if !r.Templates.Ready() || templates.Running == "" {
		return dependency.TemplateVersions{Unknown: true}, nil
	}
	versions := dependency.TemplateVersions{Running: r.Templates.Version(templates.Running)}
	if templates.RollingOut != "" {
		versions.RollingOut = r.Templates.Version(templates.RollingOut)
	}
	return versions, nil
}
