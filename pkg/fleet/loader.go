// Package fleet reads the state of managed clusters from a hub, as a value that
// pkg/dependency/evaluation evaluates. It works on a cache and on a live client.
package fleet

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/input"
)

// Reader reads single objects. Objects may be shared with a cache: they must not
// be changed. A result is not read where the reader cannot have it yet.
type Reader interface {
	// AddOn returns an add-on on a managed cluster, nil where there is none.
	AddOn(ctx context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error)
	// Cluster returns a managed cluster, nil where there is none.
	Cluster(ctx context.Context, name string) (*clusterv1.ManagedCluster, error)
	// Config returns the variables of an AddOnDeploymentConfig, none where it does
	// not exist.
	Config(ctx context.Context, key types.NamespacedName) (variables map[string]string, read bool, err error)
	// TemplateVersion returns the version of an AddOnTemplate, empty where it has
	// none or does not exist.
	TemplateVersion(ctx context.Context, name string) (version string, read bool, err error)
	// OCMVersion returns the version of Open Cluster Management on the hub.
	OCMVersion(ctx context.Context) (version string, read bool, err error)
	// Selected reports whether any of the Placements selects the cluster.
	Selected(ctx context.Context, placements []types.NamespacedName, cluster string) (selected, read bool, err error)
	// Facts returns what the agent of a cluster reports to the add-ons there.
	Facts(ctx context.Context, declared *catalog.Catalog, cluster string) (evaluation.Facts, error)
	// Installation returns what the installation of an add-on on a managed cluster waits for, because of install: Auto.
	Installation(ctx context.Context, addOn types.NamespacedName) (evaluation.Wait, error)
	// HubAPIs returns what is known of the APIs that edges require of the hub. It is shared and must not be changed.
	HubAPIs(ctx context.Context) (evaluation.APIFacts, error)
}

// Memory has what the objects of a hub no longer show.
type Memory interface {
	// Back returns since when a cluster with that status is back; zero: long ago.
	Back(cluster string, status metav1.ConditionStatus) time.Time
	// Found returns when the hub first saw an add-on as a loss of its cluster left it.
	Found(addOn types.NamespacedName) time.Time
	// RunningTemplate returns the AddOnTemplate that ran when a rollout began;
	// empty: not known.
	RunningTemplate(addOn types.NamespacedName) string
	// Lapse returns since when an add-on that is as observed is not available.
	Lapse(addOn types.NamespacedName, observed *evaluation.Observation) evaluation.Lapse
}

// Loader loads the state that verdicts rest on.
type Loader struct {
	Reader Reader
	// Memory is nil where nothing is remembered.
	Memory  Memory
	Offline evaluation.OfflinePolicy
}

const ofCluster = input.Labels | input.Claims | input.Kubernetes

// Load reads what the verdicts on the edges of an add-on rest on. It reads nothing
// that no edge uses, and no add-on of a cluster that is lost.
func (l Loader) Load(ctx context.Context, declared *evaluation.Evaluator, key types.NamespacedName, now time.Time) (evaluation.State, error) {
	state := evaluation.State{Cluster: evaluation.Cluster{Name: key.Namespace, Offline: l.Offline, Now: now}}
	if !declared.Declares(key.Name) {
		return state, nil
	}
	if err := l.loadCluster(ctx, declared, key, &state.Cluster); err != nil {
		return evaluation.State{}, err
	}
	if state.Cluster.Lost() {
		return state, nil
	}
	needs := declared.Needs(key.Name)
	state.AddOns = make(evaluation.AddOns, len(needs))
	for i, need := range needs {
		if err := l.loadAddOn(ctx, key.Namespace, need, &state.AddOns[i]); err != nil {
			return evaluation.State{}, err
		}
	}
	if err := l.loadHosts(ctx, declared, slices.Values(state.AddOns), &state.Cluster); err != nil {
		return evaluation.State{}, err
	}
	installed := func(addOn string) bool { return state.AddOns.Named(addOn).Installed }
	if err := l.loadUnselected(ctx, declared, key.Name, installed, &state.Cluster); err != nil {
		return evaluation.State{}, err
	}
	if err := l.loadWaits(ctx, declared, key, installed, &state.Cluster); err != nil {
		return evaluation.State{}, err
	}
	return state, l.loadNamedOCM(ctx, declared, key.Name, &state)
}

// loadNamedOCM sets the version of Open Cluster Management where an add-on has that one.
func (l Loader) loadNamedOCM(ctx context.Context, declared *evaluation.Evaluator, addOn string, into *evaluation.State) error {
	inputs := declared.Inputs(addOn)
	if !inputs.Any(input.Versions|input.Version) || inputs.Any(input.OCM) || !into.UsesOCM(declared.Catalog) {
		return nil
	}
	return l.loadOCM(ctx, &into.Cluster)
}

// Whole reads all that any verdict on a managed cluster can rest on: the cluster, and the
// add-ons that are named.
func (l Loader) Whole(
	ctx context.Context, declared *evaluation.Evaluator, cluster string, addOns []string, now time.Time,
) (evaluation.Cluster, map[string]evaluation.Observation, error) {
	described := evaluation.Cluster{Name: cluster, Offline: l.Offline, Now: now}
	if err := l.loadInputs(ctx, declared, ^input.Set(0), &described); err != nil {
		return described, nil, err
	}
	observed := make(map[string]evaluation.Observation, len(addOns))
	for _, name := range addOns {
		var one evaluation.Observation
		need := evaluation.Need{Name: name, Inputs: ^input.Lapses}
		if declared.Tolerates(name) {
			need.Inputs |= input.Lapses
		}
		if err := l.loadAddOn(ctx, cluster, need, &one); err != nil {
			return described, nil, err
		}
		observed[name] = one
	}
	if err := l.loadHosts(ctx, declared, maps.Values(observed), &described); err != nil {
		return described, nil, err
	}
	installed := func(addOn string) bool { return observed[addOn].Installed }
	for _, name := range addOns {
		of := types.NamespacedName{Namespace: cluster, Name: name}
		err := errors.Join(l.loadUnselected(ctx, declared, name, installed, &described), l.loadWaits(ctx, declared, of, installed, &described))
		if err != nil {
			return described, nil, err
		}
	}
	slices.Sort(described.Unselected)
	return described, observed, nil
}

// Counting returns the declaration of an add-on that counts on its managed cluster. known is false where it
// is not known which one does.
func (l Loader) Counting(
	ctx context.Context, declared *evaluation.Evaluator, addOn types.NamespacedName,
) (counting declaration.Declaration, known bool, err error) {
	if !declared.Templated(addOn.Name) {
		return declared.Declaration(addOn.Name), true, nil
	}
	var observed evaluation.Observation
	if err := l.loadAddOn(ctx, addOn.Namespace, evaluation.Need{Name: addOn.Name, Inputs: input.Template}, &observed); err != nil {
		return counting, false, err
	}
	template, known := declared.Counting(addOn.Name, observed.Template.Name, observed.Template.Unknown && observed.Template.Name == "")
	if template == "" {
		return declared.Declaration(addOn.Name), known, nil
	}
	_, counting, _ = declared.Template(template)
	return counting, known, nil
}

func (l Loader) loadCluster(ctx context.Context, declared *evaluation.Evaluator, key types.NamespacedName, into *evaluation.Cluster) error {
	return l.loadInputs(ctx, declared, declared.Inputs(key.Name), into)
}

func (l Loader) loadInputs(ctx context.Context, declared *evaluation.Evaluator, inputs input.Set, into *evaluation.Cluster) error {
	if l.Offline == evaluation.OfflineHold || inputs.Any(ofCluster) {
		cluster, err := l.Reader.Cluster(ctx, into.Name)
		if err != nil {
			return err
		}
		describe(cluster, inputs, into)
		// Without held verdicts it does not count, whatever else of the cluster is read.
		if l.Offline == evaluation.OfflineHold {
			into.Returned = returned(cluster)
		}
		if l.Memory != nil && l.Offline == evaluation.OfflineHold {
			into.Back = l.Memory.Back(into.Name, into.Available)
		}
	}
	if inputs.Any(input.OCM) {
		if err := l.loadOCM(ctx, into); err != nil {
			return err
		}
	}
	if inputs.Any(input.Facts) {
		facts, err := l.Reader.Facts(ctx, declared.Catalog, into.Name)
		if err != nil {
			return err
		}
		into.Facts = facts
	}
	if inputs.Any(input.HubAPIs) {
		known, err := l.Reader.HubAPIs(ctx)
		if err != nil {
			return err
		}
		into.HubAPIs = known
	}
	return nil
}

func (l Loader) loadOCM(ctx context.Context, into *evaluation.Cluster) error {
	version, read, err := l.Reader.OCMVersion(ctx)
	into.OCMVersion, into.OCMUnread = version, !read
	return err
}

func (l Loader) loadAddOn(ctx context.Context, cluster string, need evaluation.Need, into *evaluation.Observation) error {
	into.Name = need.Name
	key := types.NamespacedName{Namespace: cluster, Name: need.Name}
	addOn, err := l.Reader.AddOn(ctx, key)
	if err != nil || addOn == nil {
		return err
	}
	observe(addOn, need.Inputs, into)
	if l.Memory != nil && availability.ClusterLost(into.Available) {
		into.Found = l.Memory.Found(key)
	}
	if l.Memory != nil && need.Inputs.Any(input.Lapses) {
		into.Lapse = l.Memory.Lapse(key, into)
	}
	if need.Inputs.Any(input.Versions | input.Version | input.Template) {
		if err := l.loadTemplates(ctx, addOn, need.Inputs.Any(input.Versions|input.Version), into); err != nil {
			return err
		}
	}
	if need.Inputs.Any(input.Config) {
		return l.loadConfig(ctx, addOn, into)
	}
	return nil
}

// loadUnselected adds to the cluster what an add-on needs and Placements install, where it is
// not installed and none of them selects the cluster.
func (l Loader) loadUnselected(
	ctx context.Context, declared *evaluation.Evaluator, addOn string, installed func(addOn string) bool, into *evaluation.Cluster,
) error {
	for _, need := range declared.Needs(addOn) {
		if !need.Inputs.Any(input.Placements) || installed(need.Name) || slices.Contains(into.Unselected, need.Name) {
			continue
		}
		selected, read, err := l.Reader.Selected(ctx, declared.Install(need.Name).Placements, into.Name)
		switch {
		case err != nil:
			return err
		case read && !selected:
			into.Unselected = append(into.Unselected, need.Name)
		case !read:
			into.PlacementsUnread = true
		}
	}
	return nil
}

// loadConfig sets the variables that addon-framework gives the add-on.
func (l Loader) loadConfig(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, into *evaluation.Observation) error {
	key, referred := ConfigOf(addOn)
	if !referred {
		return nil
	}
	variables, read, err := l.Reader.Config(ctx, key)
	into.Config, into.ConfigUnread = variables, !read
	return err
}

// loadTemplates sets the add-on's AddOnTemplates, if it has any, and where these are used
// their versions.
func (l Loader) loadTemplates(
	ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, withVersions bool, into *evaluation.Observation,
) (err error) {
	templates := TemplatesOf(addOn)
	if templates == (Templates{}) {
		return nil
	}
	if templates.Running == "" && l.Memory != nil {
		templates.Running = l.Memory.RunningTemplate(types.NamespacedName{Namespace: addOn.Namespace, Name: addOn.Name})
	}
	into.Template.Name, into.Template.Next = templates.Running, templates.RollingOut
	if into.Template.Next == into.Template.Name {
		into.Template.Next = "" // it is being installed
	}
	if templates.Running == "" {
		into.Template.Unknown = true
		into.Template.RollingOut, _, err = l.Reader.TemplateVersion(ctx, templates.RollingOut)
		return err
	}
	if !withVersions {
		return nil
	}
	running, read, err := l.Reader.TemplateVersion(ctx, templates.Running)
	if err != nil {
		return err
	}
	into.Template.Running, into.Template.Unknown = running, !read
	if !read || templates.RollingOut == "" {
		return nil
	}
	into.Template.RollingOut, _, err = l.Reader.TemplateVersion(ctx, templates.RollingOut)
	return err
}
