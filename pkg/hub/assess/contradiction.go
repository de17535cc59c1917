package assess

import (
	"context"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// Contradiction reviews the installation of an add-on, and of the missing add-ons that Interlock installs because of it, against the add-ons
// on a managed cluster. awaited has the add-ons that OCM is about to install there, which count as installed. The review has no result while
// an input is awaited, such as the version that a live agent has to report. The returned time is the time of the next review, or zero.
func (a Assessor) Contradiction(
	ctx context.Context, evaluator *evaluation.Evaluator, addOn types.NamespacedName, awaited []string, now time.Time,
) (outcome.Contradiction, time.Time, error) {
	planned := withAddOns{a.Loader.Reader, map[types.NamespacedName]*addonv1alpha1.ManagedClusterAddOn{}}
	a.Loader.Reader = planned
	for _, name := range append(slices.Clone(awaited), addOn.Name) {
		planned.add(evaluator, types.NamespacedName{Namespace: addOn.Namespace, Name: name})
	}
	state, ok, err := a.installing(ctx, evaluator, addOn, now)
	if err != nil || !ok { // its declaration is known only after OCM has chosen one of its AddOnTemplates
		return outcome.Contradiction{Reviewed: true}, time.Time{}, err
	}
	contradiction, next, err := a.contradiction(ctx, evaluator, planned.addOns[addOn], state)
	if err != nil {
		return outcome.Contradiction{}, time.Time{}, err
	}
	if contradiction.Message == "" && contradiction.Reviewed {
		contradiction.Message, err = a.furtherContradiction(ctx, evaluator, addOn, planned, now)
	}
	return *contradiction, next, err
}

// furtherContradiction reviews the missing add-ons that Interlock installs because of an add-on. It is empty without a contradiction, and
// while an input is awaited: the agents of these add-ons report only after their installation.
func (a Assessor) furtherContradiction(
	ctx context.Context, evaluator *evaluation.Evaluator, addOn types.NamespacedName, planned withAddOns, now time.Time,
) (string, error) {
	unit, err := a.unit(ctx, evaluator, addOn, planned, now)
	if err != nil {
		return "", err
	}
	for _, member := range unit[1:] {
		state, ok, err := a.installing(ctx, evaluator, member, now)
		if err != nil {
			return "", err
		}
		if !ok {
			continue
		}
		contradiction, _, err := a.contradiction(ctx, evaluator, planned.addOns[member], state)
		if err != nil {
			return "", err
		}
		if contradiction.Message != "" {
			return contradiction.Message, nil
		}
	}
	return "", nil
}

// unit returns an add-on and the missing add-ons that Interlock installs because of its Required dependencies, and because of theirs. It
// adds them to the planned add-ons.
func (a Assessor) unit(
	ctx context.Context, evaluator *evaluation.Evaluator, addOn types.NamespacedName, planned withAddOns, now time.Time,
) ([]types.NamespacedName, error) {
	unit := []types.NamespacedName{addOn}
	for i := 0; i < len(unit); i++ {
		state, ok, err := a.installing(ctx, evaluator, unit[i], now)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		optional := func(finding evaluation.Finding) bool { return !finding.Blocks() }
		required := slices.DeleteFunc(evaluator.Evaluate(unit[i].Name, state), optional)
		for _, name := range installation.Needed(evaluator.Catalog, required) {
			key := types.NamespacedName{Namespace: addOn.Namespace, Name: name}
			if planned.add(evaluator, key) {
				unit = append(unit, key)
			}
		}
	}
	return unit, nil
}

// installing returns the state in which an add-on is evaluated before its installation. The bool is false while its declaration is unknown.
func (a Assessor) installing(
	ctx context.Context, evaluator *evaluation.Evaluator, addOn types.NamespacedName, now time.Time,
) (evaluation.State, bool, error) {
	state, err := a.Loader.Load(ctx, evaluator, addOn, now)
	if err != nil {
		return state, false, err
	}
	state, ok := gate.Installing(evaluator.Catalog, state, addOn.Name)
	return state, ok, nil
}

// contradiction reviews an add-on that contradicted installed add-ons when it was created. state is the state in which the add-on was
// evaluated. The returned time is the time of the next review, or zero.
func (a Assessor) contradiction(
	ctx context.Context, evaluator *evaluation.Evaluator, addOn *addonv1alpha1.ManagedClusterAddOn, state evaluation.State,
) (*outcome.Contradiction, time.Time, error) {
	states := map[string]evaluation.State{addOn.Name: state}
	for _, name := range protection.MayBreak(evaluator.Catalog, addOn.Name) {
		key := types.NamespacedName{Namespace: addOn.Namespace, Name: name}
		installedAddOn, err := a.Loader.Reader.AddOn(ctx, key)
		if err != nil {
			return nil, time.Time{}, err
		}
		if name == addOn.Name || installedAddOn == nil || !installedAddOn.DeletionTimestamp.IsZero() {
			continue
		}
		loaded, err := a.Loader.Load(ctx, evaluator, key, state.Cluster.Now)
		if err != nil {
			return nil, time.Time{}, err
		}
		states[name], _ = gate.Installing(evaluator.Catalog, loaded, addOn.Name) // the state of the add-on itself has shown that the inputs are known
	}
	review := protection.ReviewInstallation(evaluator, addOn.Name, states)
	return &outcome.Contradiction{Message: review.Contradicted.Message(addOn.Name), Reviewed: review.Known}, review.Until, nil
}

// withAddOns reads a hub as if more add-ons were installed.
type withAddOns struct {
	fleet.Reader

	addOns map[types.NamespacedName]*addonv1alpha1.ManagedClusterAddOn
}

// add adds an add-on as it is after its installation. If OCM chooses between several AddOnTemplates, it has none yet. add returns false if
// the add-on was added before.
func (w withAddOns) add(evaluator *evaluation.Evaluator, key types.NamespacedName) bool {
	if w.addOns[key] != nil {
		return false
	}
	installed := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if templates := evaluator.Install(key.Name).Templates; len(templates) == 1 {
		installed = fleet.WithTemplate(installed, templates[0])
	}
	w.addOns[key] = installed
	return true
}

// AddOn implements fleet.Reader.
func (w withAddOns) AddOn(ctx context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error) {
	addOn, err := w.Reader.AddOn(ctx, key)
	if planned := w.addOns[key]; err == nil && addOn == nil && planned != nil {
		return planned, nil
	}
	return addOn, err
}
