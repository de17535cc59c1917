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
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Reader reads single objects. Callers must not change them, because a cache may share
// them. A bool result is false if the value is unknown so far, such as before a cache is synced.
type Reader interface {
	// AddOn returns an add-on on a managed cluster. It is nil if there is none.
	AddOn(ctx context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error)
	// Cluster returns a managed cluster. It is nil if there is none.
	Cluster(ctx context.Context, name string) (*clusterv1.ManagedCluster, error)
	// Config returns the variables of an AddOnDeploymentConfig. There are none if it does not exist.
	Config(ctx context.Context, key types.NamespacedName) (map[string]string, bool, error)
	// TemplateVersion returns the version of an AddOnTemplate. It is empty if the
	// template has no version or does not exist.
	TemplateVersion(ctx context.Context, name string) (string, bool, error)
	// OCMVersion returns the version of Open Cluster Management on the hub.
	OCMVersion(ctx context.Context) (string, bool, error)
	// Selected reports whether any of the Placements selects the cluster, and whether their decisions are known.
	Selected(ctx context.Context, placements []types.NamespacedName, cluster string) (selected, read bool, err error)
	// Facts returns the facts of a cluster that the add-ons there need.
	Facts(ctx context.Context, declarations *catalog.Catalog, cluster string) (evaluation.Facts, error)
	// Installation returns the reason why the installation of an add-on on a managed cluster waits, because of install: Auto.
	Installation(ctx context.Context, addOn types.NamespacedName) (evaluation.Wait, error)
	// Setting returns the outcome of the requests for the settings of an add-on on a managed cluster.
	Setting(ctx context.Context, addOn types.NamespacedName) (settings.Outcome, error)
	// HubAPIs returns the facts about APIs that edges require of the hub. They are shared and must not be changed.
	HubAPIs(ctx context.Context) (evaluation.APIFacts, error)
}

// Partial is a Reader that may lack managed clusters of the hub.
type Partial interface {
	// MayHaveCluster reports whether the reader lacks a managed cluster that the hub may have.
	MayHaveCluster(name string) bool
}

// Memory is the past state that the objects of a hub no longer show.
type Memory interface {
	// Back returns when a cluster with that status became reachable again. It is zero if that was long ago.
	Back(cluster string, status metav1.ConditionStatus) time.Time
	// Found returns when the hub first observed an add-on in the state that a loss of its cluster leaves.
	Found(addOn types.NamespacedName) time.Time
	// RunningTemplate returns the AddOnTemplate that counts during a rollout. That is the former AddOnTemplate, or the new one at a first
	// installation. It is empty if it is unknown.
	RunningTemplate(addOn types.NamespacedName) string
	// Lapse returns when an add-on in the observed state became unavailable.
	Lapse(addOn types.NamespacedName, observed *evaluation.Observation) evaluation.Lapse
}

// Loader loads the state that verdicts depend on.
type Loader struct {
	Reader Reader
	// Memory is nil if no past state is kept.
	Memory  Memory
	Offline evaluation.OfflinePolicy
}

// clusterInputs are the inputs that the ManagedCluster has.
const clusterInputs = input.Labels | input.Claims | input.Kubernetes

// Load reads the state that the verdicts on the edges of an add-on depend on. It reads only
// inputs that an edge uses, and no add-on of a lost cluster. addon-manager calls it; Whole is for the plugin and reports.
func (l Loader) Load(
	ctx context.Context, evaluator *evaluation.Evaluator, key types.NamespacedName, now time.Time,
) (evaluation.State, error) {
	state := evaluation.State{Cluster: evaluation.Cluster{Name: key.Namespace, Offline: l.Offline, Now: now}}
	if !evaluator.Declares(key.Name) {
		return state, nil
	}
	if err := l.loadCluster(ctx, evaluator, key, &state.Cluster); err != nil {
		return evaluation.State{}, err
	}
	if state.Cluster.Lost() {
		return state, nil
	}
	needs := evaluator.Needs(key.Name)
	state.AddOns = make(evaluation.AddOns, len(needs))
	for i, need := range needs {
		if err := l.loadAddOn(ctx, key.Namespace, need, &state.AddOns[i]); err != nil {
			return evaluation.State{}, err
		}
	}
	if err := l.loadHosts(ctx, evaluator, slices.Values(state.AddOns), &state.Cluster); err != nil {
		return evaluation.State{}, err
	}
	installed := func(addOn string) bool { return state.AddOns.Named(addOn).Installed }
	if err := l.loadUnselected(ctx, evaluator, key.Name, installed, &state.Cluster); err != nil {
		return evaluation.State{}, err
	}
	if err := l.loadWaits(ctx, evaluator, key, installed, &state.Cluster); err != nil {
		return evaluation.State{}, err
	}
	if err := l.loadSettings(ctx, evaluator, key, installed, &state.Cluster); err != nil {
		return evaluation.State{}, err
	}
	return state, l.loadNamedOCM(ctx, evaluator, key.Name, &state)
}

// loadNamedOCM sets the version of Open Cluster Management if an add-on declares it as its own version.
func (l Loader) loadNamedOCM(ctx context.Context, evaluator *evaluation.Evaluator, addOn string, state *evaluation.State) error {
	inputs := evaluator.Inputs(addOn)
	if !inputs.Any(input.Versions|input.Version) || inputs.Any(input.OCM) || !state.UsesOCM(evaluator.Catalog) {
		return nil
	}
	return l.loadOCM(ctx, &state.Cluster)
}

// Whole reads all inputs of all verdicts on a managed cluster: the cluster, and the add-ons
// with these names.
func (l Loader) Whole(
	ctx context.Context, evaluator *evaluation.Evaluator, cluster string, addOns []string, now time.Time,
) (evaluation.Cluster, map[string]evaluation.Observation, error) {
	described := evaluation.Cluster{Name: cluster, Offline: l.Offline, Now: now}
	if err := l.loadInputs(ctx, evaluator, ^input.Set(0), &described); err != nil {
		return described, nil, err
	}
	observed := make(map[string]evaluation.Observation, len(addOns))
	for _, name := range addOns {
		var addOn evaluation.Observation
		need := evaluation.Need{Name: name, Inputs: ^input.Lapses}
		if evaluator.Tolerates(name) {
			need.Inputs |= input.Lapses
		}
		if err := l.loadAddOn(ctx, cluster, need, &addOn); err != nil {
			return described, nil, err
		}
		observed[name] = addOn
	}
	if err := l.loadHosts(ctx, evaluator, maps.Values(observed), &described); err != nil {
		return described, nil, err
	}
	installed := func(addOn string) bool { return observed[addOn].Installed }
	for _, name := range addOns {
		key := types.NamespacedName{Namespace: cluster, Name: name}
		err := errors.Join(l.loadUnselected(ctx, evaluator, name, installed, &described),
			l.loadWaits(ctx, evaluator, key, installed, &described), l.loadSettings(ctx, evaluator, key, installed, &described))
		if err != nil {
			return described, nil, err
		}
	}
	slices.Sort(described.Unselected)
	return described, observed, nil
}

// DeclarationInForce returns the declaration of an add-on that is in effect on its managed cluster. Its registration or an AddOnTemplate
// has it. The bool is false if the template is unknown.
func (l Loader) DeclarationInForce(
	ctx context.Context, evaluator *evaluation.Evaluator, addOn types.NamespacedName,
) (declaration.Declaration, bool, error) {
	if !evaluator.Templated(addOn.Name) {
		return evaluator.Declaration(addOn.Name), true, nil
	}
	var observed evaluation.Observation
	if err := l.loadAddOn(ctx, addOn.Namespace, evaluation.Need{Name: addOn.Name, Inputs: input.Template}, &observed); err != nil {
		return declaration.Declaration{}, false, err
	}
	template, ok := evaluator.TemplateInForce(addOn.Name, observed.Template.Name, observed.Template.Unknown && observed.Template.Name == "")
	if template == "" {
		return evaluator.Declaration(addOn.Name), ok, nil
	}
	_, counting, _ := evaluator.Template(template)
	return counting, ok, nil
}

func (l Loader) loadCluster(
	ctx context.Context, evaluator *evaluation.Evaluator, key types.NamespacedName, cluster *evaluation.Cluster,
) error {
	return l.loadInputs(ctx, evaluator, evaluator.Inputs(key.Name), cluster)
}

func (l Loader) loadInputs(ctx context.Context, evaluator *evaluation.Evaluator, inputs input.Set, cluster *evaluation.Cluster) error {
	if l.Offline == evaluation.OfflineHold || inputs.Any(clusterInputs) {
		object, err := l.Reader.Cluster(ctx, cluster.Name)
		if err != nil {
			return err
		}
		describe(object, inputs, cluster)
		// Without held verdicts, the time of the return does not count.
		if l.Offline == evaluation.OfflineHold {
			cluster.Returned = returned(object)
		}
		if l.Memory != nil && l.Offline == evaluation.OfflineHold {
			cluster.Back = l.Memory.Back(cluster.Name, cluster.Available)
		}
	}
	if inputs.Any(input.OCM) {
		if err := l.loadOCM(ctx, cluster); err != nil {
			return err
		}
	}
	if inputs.Any(input.Facts) {
		facts, err := l.Reader.Facts(ctx, evaluator.Catalog, cluster.Name)
		if err != nil {
			return err
		}
		cluster.Facts = facts
	}
	if inputs.Any(input.HubAPIs) {
		apis, err := l.Reader.HubAPIs(ctx)
		if err != nil {
			return err
		}
		cluster.HubAPIs = apis
	}
	return nil
}

func (l Loader) loadOCM(ctx context.Context, cluster *evaluation.Cluster) error {
	version, read, err := l.Reader.OCMVersion(ctx)
	cluster.OCMVersion, cluster.OCMUnread = version, !read
	return err
}

func (l Loader) loadAddOn(ctx context.Context, cluster string, need evaluation.Need, observation *evaluation.Observation) error {
	observation.Name = need.Name
	key := types.NamespacedName{Namespace: cluster, Name: need.Name}
	addOn, err := l.Reader.AddOn(ctx, key)
	if err != nil || addOn == nil {
		return err
	}
	observe(addOn, need.Inputs, observation)
	if l.Memory != nil && availability.ClusterLost(observation.Available) {
		observation.LossObserved = l.Memory.Found(key)
	}
	if l.Memory != nil && need.Inputs.Any(input.Lapses) {
		observation.Lapse = l.Memory.Lapse(key, observation)
	}
	if need.Inputs.Any(input.Versions | input.Version | input.Template) {
		if err := l.loadTemplates(ctx, addOn, need.Inputs.Any(input.Versions|input.Version), observation); err != nil {
			return err
		}
	}
	if need.Inputs.Any(input.Config) {
		return l.loadConfig(ctx, addOn, observation)
	}
	return nil
}

// loadUnselected adds the dependencies of an add-on that Placements install, that are not
// installed, and whose Placements do not select the cluster.
func (l Loader) loadUnselected(
	ctx context.Context, evaluator *evaluation.Evaluator, addOn string, installed func(addOn string) bool, cluster *evaluation.Cluster,
) error {
	for _, need := range evaluator.Needs(addOn) {
		if !need.Inputs.Any(input.Placements) || installed(need.Name) || slices.Contains(cluster.Unselected, need.Name) {
			continue
		}
		selected, read, err := l.Reader.Selected(ctx, evaluator.Install(need.Name).Placements, cluster.Name)
		switch {
		case err != nil:
			return err
		case read && !selected:
			cluster.Unselected = append(cluster.Unselected, need.Name)
		case !read:
			cluster.PlacementsUnread = true
		}
	}
	return nil
}

// loadConfig sets the variables that addon-framework passes to the add-on.
func (l Loader) loadConfig(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, observation *evaluation.Observation) error {
	key, referred := ConfigOf(addOn)
	if !referred {
		return nil
	}
	variables, read, err := l.Reader.Config(ctx, key)
	observation.Config, observation.ConfigUnread = variables, !read
	return err
}

// loadTemplates sets the add-on's AddOnTemplates, if it has any, and their versions on request.
func (l Loader) loadTemplates(
	ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn, withVersions bool, observation *evaluation.Observation,
) error {
	templates := TemplatesOf(addOn)
	if templates == (Templates{}) {
		return nil
	}
	if templates.Running == "" && l.Memory != nil { // admission reviews a state that is not stored yet, so it has no memory
		templates.Running = l.Memory.RunningTemplate(types.NamespacedName{Namespace: addOn.Namespace, Name: addOn.Name})
		if templates.Running == "" && isFirstInstallation(addOn) {
			templates.Running = templates.RollingOut
		}
	}
	observation.Template.Name, observation.Template.Next = templates.Running, templates.RollingOut
	if observation.Template.Next == observation.Template.Name {
		observation.Template.Next = "" // it is being installed
	}
	if templates.Running == "" {
		observation.Template.Unknown = true
		return l.loadRollingOut(ctx, templates.RollingOut, observation)
	}
	if !withVersions {
		return nil
	}
	running, read, err := l.Reader.TemplateVersion(ctx, templates.Running)
	if err != nil {
		return err
	}
	observation.Template.Running, observation.Template.Unknown = running, !read
	if !read || templates.RollingOut == "" {
		return nil
	}
	return l.loadRollingOut(ctx, templates.RollingOut, observation)
}

// isFirstInstallation reports whether no AddOnTemplate has run yet: the gate of the add-on is closed, or its agent has never reported.
// The AddOnTemplate that OCM is about to install then counts.
func isFirstInstallation(addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	return GateClosed(addOn) || Available(addOn) == nil
}

// loadRollingOut sets the version of the AddOnTemplate that OCM rolls out.
func (l Loader) loadRollingOut(ctx context.Context, template string, observation *evaluation.Observation) error {
	version, _, err := l.Reader.TemplateVersion(ctx, template)
	observation.Template.RollingOut = version
	return err
}
