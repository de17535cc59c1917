// Package assess finds what there is to say of each add-on on each managed cluster, and knows which event concerns which add-on.
package assess

import (
	"cmp"
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/controllers"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/dependency/status"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
)

// MissingAgain is when an AddOnTemplate that does not exist is looked for again. Its creation brings the add-on back sooner where it
// declares something.
const MissingAgain = 10 * time.Second

// Assessor loads the state of add-ons, and evaluates it.
type Assessor struct {
	Fleet  hubcache.Reader
	Loader fleet.Loader
	// Live reads what the caches lack from the API server: the spec of add-ons, and whether AddOnTemplates exist.
	Live client.Reader
	// Acts: addon-manager runs the lifecycle. Without, only what Degraded rests on is found.
	Acts bool
}

// Assess returns what is found of an add-on, with the state that it rests on.
func (a Assessor) Assess(
	ctx context.Context, declared *evaluation.Evaluator, addOn *addonv1alpha1.ManagedClusterAddOn, now time.Time,
) (found status.Assessment, state evaluation.State, err error) {
	if state, err = a.Loader.Load(ctx, declared, client.ObjectKeyFromObject(addOn), now); err != nil {
		return found, state, err
	}
	found = status.Assessment{
		Registered: declared.Declaration(addOn.Name), Findings: declared.Evaluate(addOn.Name, state),
		Lost: state.Cluster.Available == metav1.ConditionUnknown, Bundle: declared.Install(addOn.Name).Bundle, Acts: a.Acts,
	}
	found.Until, found.Blockers = evaluation.HeldUntil(found.Findings), protection.BlockersOf(found.Findings, state.Cluster)
	switch {
	case !a.Acts:
	case fleet.GateClosed(addOn):
		err = a.assessInstalling(ctx, declared, addOn, state, &found)
	case fleet.WaitingTemplate(addOn) != "":
		err = a.assessUpgrading(ctx, declared, addOn, state, &found)
	}
	return found, state, err
}

// assessInstalling adds what is found of an add-on whose gate is closed, with the AddOnTemplate that is to be installed. Where OCM has not
// chosen one yet, that may declare more.
func (a Assessor) assessInstalling(
	ctx context.Context,
	declared *evaluation.Evaluator,
	addOn *addonv1alpha1.ManagedClusterAddOn,
	state evaluation.State,
	found *status.Assessment,
) error {
	if Chosen(addOn) == "" && len(declared.Install(addOn.Name).Templates) > 0 {
		return nil
	}
	state, known := gate.Installing(declared.Catalog, state, addOn.Name)
	if !known {
		return nil
	}
	missing, err := a.missing(ctx, addOn)
	if err != nil {
		return err
	}
	installing := &status.Installing{Findings: declared.Evaluate(addOn.Name, state), Missing: missing}
	found.Installing, found.Until = installing, controllers.Sooner(found.Until, evaluation.HeldUntil(installing.Findings))
	if missing != "" {
		found.Until = controllers.Sooner(found.Until, state.Cluster.Now.Add(MissingAgain))
	}
	if !fleet.HeldForContradiction(addOn) {
		return nil
	}
	contradiction, until, err := a.contradiction(ctx, declared, addOn, state)
	installing.Contradiction, found.Until = contradiction, controllers.Sooner(found.Until, until)
	return err
}

// Chosen is the AddOnTemplate that OCM is about to install; empty: none is chosen.
func Chosen(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	templates := fleet.TemplatesOf(addOn)
	return cmp.Or(templates.RollingOut, templates.Running)
}

// missing returns the AddOnTemplate that is to be installed, if it does not exist. One that has a version does.
func (a Assessor) missing(ctx context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) (string, error) {
	template := Chosen(addOn)
	if template == "" {
		return "", nil
	}
	version, read, err := a.Loader.Reader.TemplateVersion(ctx, template)
	if err != nil || !read || version != "" {
		return "", err
	}
	exists, err := declarations.TemplateExists(ctx, a.Live, template)
	if err != nil || exists {
		return "", err
	}
	return template, nil
}

// assessUpgrading adds what is found of an add-on with the AddOnTemplate that waits.
func (a Assessor) assessUpgrading(
	ctx context.Context,
	declared *evaluation.Evaluator,
	addOn *addonv1alpha1.ManagedClusterAddOn,
	state evaluation.State,
	found *status.Assessment,
) error {
	waiting, templates := fleet.WaitingTemplate(addOn), fleet.TemplatesOf(addOn)
	version, read, err := a.Loader.Reader.TemplateVersion(ctx, waiting)
	if err != nil || !read {
		return err
	}
	upgrading := &status.Upgrading{Upgrade: gate.Upgrade{Template: waiting, Version: version}}
	upgrading.Findings = declared.Evaluate(addOn.Name, gate.Upgrading(state, addOn.Name, upgrading.Upgrade))
	found.Upgrading, found.Until = upgrading, controllers.Sooner(found.Until, evaluation.HeldUntil(upgrading.Findings))
	if templates.RollingOut == waiting || templates.Running == waiting && templates.RollingOut == "" {
		upgrading.RolledOut = true
		return nil
	}
	wanted, err := a.wanted(ctx, declared, addOn, waiting)
	if upgrading.Dropped = !wanted; err != nil || !wanted || version != "" {
		return err
	}
	exists, err := declarations.TemplateExists(ctx, a.Live, waiting)
	if err == nil && !exists {
		upgrading.Missing, found.Until = true, controllers.Sooner(found.Until, state.Cluster.Now.Add(MissingAgain))
	}
	return err
}

// wanted reports whether the template may still be rolled out there: by the add-on itself, or else by its registration. Different watches
// fill the caches of registrations and of add-ons, so what the catalog does not have is read from the API server.
func (a Assessor) wanted(
	ctx context.Context,
	declared *evaluation.Evaluator,
	addOn *addonv1alpha1.ManagedClusterAddOn,
	template string,
) (bool, error) {
	live := &addonv1alpha1.ManagedClusterAddOn{} // the cache has no spec
	if err := a.Live.Get(ctx, client.ObjectKeyFromObject(addOn), live); err != nil {
		return true, client.IgnoreNotFound(err)
	}
	if own := fleet.OwnTemplate(live); own != "" {
		return own == template, nil
	}
	if slices.Contains(declared.Install(addOn.Name).Templates, template) {
		return true, nil
	}
	registered := &addonv1alpha1.ClusterManagementAddOn{}
	if err := a.Live.Get(ctx, client.ObjectKey{Name: addOn.Name}, registered); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return slices.Contains(declaration.NamedTemplates(registered), template), nil
}
