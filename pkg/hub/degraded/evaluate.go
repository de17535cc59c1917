package degraded

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/hub/fleet"
)

// Configs says whether AddOnDeploymentConfigs can be read. Asked for the first
// time, it sees to it that they will be, and then wakes who needs them.
type Configs interface {
	Ready() bool
}

// OCM says which version of Open Cluster Management the hub has, empty where
// nobody tells, and whether that is known yet. Asked for the first time, it
// finds out, and then wakes who needs it.
type OCM interface {
	Version() (version string, known bool)
}

// Facts says what the agents of managed clusters have answered. It wakes who
// needs an answer when there is another.
type Facts interface {
	Facts(cluster string) evaluation.Facts
}

// Templates has the versions of AddOnTemplates. Ready reports whether they have
// been read; its first call has them read, and the add-ons that need them enqueued.
type Templates interface {
	Ready() bool
	Version(template string) string
}

// evaluate loads what the findings rest on from the cache and finds them.
// What no edge of the add-on looks at is not loaded.
func (r *Reconciler) evaluate(ctx context.Context, catalog *evaluation.Evaluator, key types.NamespacedName, now time.Time) ([]evaluation.Finding, error) {
	cluster := evaluation.Cluster{Offline: r.Offline, Now: now}
	if !catalog.Declaration(key.Name).Empty() {
		var err error
		if cluster, err = r.describe(ctx, key.Namespace, catalog.Inputs(key.Name), cluster); err != nil {
			return nil, err
		}
	}
	versioned := catalog.OwnInputs(key.Name).Any(input.Versions)
	var failure error
	observe := func(addOn string) evaluation.Observation {
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

// describe adds to what is known of the cluster what edges with these uses look at.
func (r *Reconciler) describe(ctx context.Context, name string, uses input.Set, known evaluation.Cluster) (evaluation.Cluster, error) {
	const ofCluster = input.Labels | input.Claims | input.Kubernetes
	cluster := known
	if r.Offline == evaluation.OfflineHold || uses.Any(ofCluster) {
		managed, err := r.Fleet.Cluster(ctx, name)
		if err != nil {
			return evaluation.Cluster{}, err
		}
		cluster = fleet.Describe(managed, uses)
		cluster.Offline, cluster.Now = known.Offline, known.Now
		cluster.Back = r.Outages.Observe(name, cluster.Available)
	}
	cluster.Name = name
	if uses.Any(input.OCM) {
		version, found := r.OCM.Version()
		cluster.OCMVersion, cluster.OCMUnread = version, !found
	}
	if uses.Any(input.Facts) && r.Facts != nil {
		cluster.Facts = r.Facts.Facts(name)
	}
	return cluster, nil
}

func (r *Reconciler) observe(ctx context.Context, catalog *evaluation.Evaluator, key types.NamespacedName) (evaluation.Observation, error) {
	observed, err := r.Fleet.Observe(ctx, key)
	if evaluation.LeftByLoss(observed.Available) {
		observed.Found = r.Outages.Found(key)
	}
	if err != nil || !catalog.OwnInputs(key.Name).Any(input.Config) {
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
func (r *Reconciler) templateVersions(ctx context.Context, key types.NamespacedName) (versions.Templates, error) {
	templates, err := r.Fleet.Templates(ctx, key)
	switch {
	case err != nil || templates == (fleet.Templates{}):
		return versions.Templates{}, err
	case templates.Running == "":
		templates.Running = r.rollouts.from(key)
	}
	if !r.Templates.Ready() || templates.Running == "" {
		return versions.Templates{Unknown: true}, nil
	}
	found := versions.Templates{Running: r.Templates.Version(templates.Running)}
	if templates.RollingOut != "" {
		found.RollingOut = r.Templates.Version(templates.RollingOut)
	}
	return found, nil
}
