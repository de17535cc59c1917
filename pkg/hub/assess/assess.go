// Package assess evaluates the add-ons on managed clusters, stores the assessments, and maps events to the affected add-ons.
package assess

import (
	"cmp"
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/hub/declarations"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
)

// MissingAgain is the time between two requests for an AddOnTemplate that does not exist. The creation of one with dependencies enqueues
// the add-on sooner.
const MissingAgain = 10 * time.Second

// Assessor loads the state of add-ons, and evaluates it.
type Assessor struct {
	Fleet  hubcache.Reader
	Loader fleet.Loader
	// Live reads from the API server: the caches have no specs of add-ons, and no AddOnTemplates without dependencies.
	Live client.Reader
	// Acts is true where addon-manager runs the lifecycle.
	Acts bool
}

// Assess evaluates an add-on. It also returns the state of the managed cluster that it has loaded.
func (a Assessor) Assess(
	ctx context.Context, evaluator *evaluation.Evaluator, addOn *addonv1alpha1.ManagedClusterAddOn, now time.Time,
) (outcome.Assessment, evaluation.State, error) {
	state, err := a.Loader.Load(ctx, evaluator, client.ObjectKeyFromObject(addOn), now)
	if err != nil {
		return outcome.Assessment{}, state, err
	}
	assessment := outcome.Assessment{
		Registered: evaluator.Declaration(addOn.Name),
		Findings:   evaluator.Evaluate(addOn.Name, state),
		Lost:       state.Cluster.Available == metav1.ConditionUnknown,
		Bundle:     evaluator.Install(addOn.Name).Bundle,
		Acts:       a.Acts,
	}
	if assessment.Bundle && !evaluator.Declares(addOn.Name) { // its state has no cluster
		cluster, err := a.Fleet.Cluster(ctx, addOn.Namespace)
		if err != nil {
			return outcome.Assessment{}, state, err
		}
		assessment.Lost = cluster != nil && fleet.ClusterStatus(cluster) == metav1.ConditionUnknown
	}
	assessment.Until = evaluation.HeldUntil(assessment.Findings)
	assessment.Blockers = protection.BlockersOf(assessment.Findings, state.Cluster)
	switch {
	case !a.Acts:
	case fleet.GateClosed(addOn):
		err = a.assessInstalling(ctx, evaluator, addOn, state, &assessment)
	case fleet.WaitingTemplate(addOn) != "":
		err = a.assessUpgrading(ctx, evaluator, addOn, state, &assessment)
	}
	return assessment, state, err
}

// assessInstalling evaluates an add-on behind a closed gate, with the AddOnTemplate that OCM is about to install. It does nothing until OCM
// has chosen that template, because the template may declare more dependencies. Nor does it without a registration: OCM installs nothing
// then, and a registration that is deleted and created again must not open gates.
func (a Assessor) assessInstalling(
	ctx context.Context,
	evaluator *evaluation.Evaluator,
	addOn *addonv1alpha1.ManagedClusterAddOn,
	state evaluation.State,
	assessment *outcome.Assessment,
) error {
	if !evaluator.Registered(addOn.Name) || Chosen(addOn) == "" && len(evaluator.Install(addOn.Name).Templates) > 0 {
		return nil
	}
	state, ok := gate.Installing(evaluator.Catalog, state, addOn.Name)
	if !ok {
		return nil
	}
	missing, err := a.missing(ctx, addOn)
	if err != nil {
		return err
	}
	installing := &outcome.Installing{Findings: evaluator.Evaluate(addOn.Name, state), Missing: missing}
	assessment.Installing = installing
	assessment.Until = controllers.Sooner(assessment.Until, evaluation.HeldUntil(installing.Findings))
	if missing != "" {
		assessment.Until = controllers.Sooner(assessment.Until, state.Cluster.Now.Add(MissingAgain))
	}
	if !fleet.HeldForContradiction(addOn) {
		return nil
	}
	contradiction, until, err := a.contradiction(ctx, evaluator, addOn, state)
	installing.Contradiction, assessment.Until = contradiction, controllers.Sooner(assessment.Until, until)
	return err
}

// Chosen returns the AddOnTemplate that OCM is about to install. It is empty until OCM has chosen one.
func Chosen(addOn *addonv1alpha1.ManagedClusterAddOn) string {
	templates := fleet.TemplatesOf(addOn)
	return cmp.Or(templates.RollingOut, templates.Running)
}

// missing returns the AddOnTemplate that OCM is about to install, if it does not exist. A template with a version exists.
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

// assessUpgrading evaluates an add-on with the AddOnTemplate that waits.
func (a Assessor) assessUpgrading(
	ctx context.Context,
	evaluator *evaluation.Evaluator,
	addOn *addonv1alpha1.ManagedClusterAddOn,
	state evaluation.State,
	assessment *outcome.Assessment,
) error {
	template, templates := fleet.WaitingTemplate(addOn), fleet.TemplatesOf(addOn)
	version, read, err := a.Loader.Reader.TemplateVersion(ctx, template)
	if err != nil || !read {
		return err
	}
	upgrading := &outcome.Upgrading{Upgrade: gate.Upgrade{Template: template, Version: version}}
	upgrading.Findings = evaluator.Evaluate(addOn.Name, gate.Upgrading(state, addOn.Name, upgrading.Upgrade))
	assessment.Upgrading = upgrading
	assessment.Until = controllers.Sooner(assessment.Until, evaluation.HeldUntil(upgrading.Findings))
	if templates.RollingOut == template || templates.Running == template && templates.RollingOut == "" {
		upgrading.RolledOut = true
		return nil
	}
	isNamed, err := a.namesTemplate(ctx, evaluator, addOn, template)
	if upgrading.Dropped = !isNamed; err != nil || !isNamed || version != "" {
		return err
	}
	exists, err := declarations.TemplateExists(ctx, a.Live, template)
	if err == nil && !exists {
		upgrading.Missing = true
		assessment.Until = controllers.Sooner(assessment.Until, state.Cluster.Now.Add(MissingAgain))
	}
	return err
}

// namesTemplate reports whether the add-on, or else its registration, still names the template. The caches of registrations and of add-ons
// have different watches, so namesTemplate reads the API server where the catalog does not have the template.
func (a Assessor) namesTemplate(
	ctx context.Context,
	evaluator *evaluation.Evaluator,
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
	if slices.Contains(evaluator.Install(addOn.Name).Templates, template) {
		return true, nil
	}
	registration := &addonv1alpha1.ClusterManagementAddOn{}
	if err := a.Live.Get(ctx, client.ObjectKey{Name: addOn.Name}, registration); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return slices.Contains(declaration.NamedTemplates(registration), template), nil
}
