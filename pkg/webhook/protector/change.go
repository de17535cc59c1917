package protector

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/fleet"
	eventsof "open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/text"
)

// change is another state of a registration: another version, other AddOnTemplates or another declaration.
type change struct {
	oldAddOn, newAddOn *addonv1alpha1.ClusterManagementAddOn
	// oldEvaluator and newEvaluator evaluate the declarations before and after the change.
	oldEvaluator, newEvaluator policyEvaluator
	// affected are the add-ons that the change can break.
	affected []string
	// selections returns the clusters that Placements select, by the old and by the new install strategy.
	selections fleet.Selecting
	// editedTemplate is set if an AddOnTemplate changes, and not the registration that names it.
	editedTemplate *editedTemplate
	// upgradesWait is true if another AddOnTemplate waits on each cluster until its requirements are satisfied there. waitingEdges are
	// the edges for which it would wait.
	upgradesWait bool
	waitingEdges protection.Broken
	// uncheckedEdges are the edges whose version is no longer known after the change, on any managed cluster.
	uncheckedEdges protection.Unchecked
	// templates are the existing AddOnTemplates that the old or the new registration names. uncached are the ones among them that the
	// cache does not have yet.
	templates, uncached templateOverrides
}

// canBreak reports whether a change of a registration can break any add-on. It reads nothing.
func canBreak(oldAddOn, newAddOn *addonv1alpha1.ClusterManagementAddOn) bool {
	return !declaration.SameDeclared(oldAddOn, newAddOn) ||
		versions.In(oldAddOn.Annotations) != versions.In(newAddOn.Annotations) ||
		!fleet.SameTemplates(oldAddOn, newAddOn)
}

// reviewChange reviews another version, other AddOnTemplates or another declaration of an add-on, on the managed clusters on which it
// is installed. A change is not refused for verdicts whose inputs are unknown.
func (v *RegistrationValidator) reviewChange(
	ctx context.Context, oldAddOn, newAddOn *addonv1alpha1.ClusterManagementAddOn,
) (outcome, error) {
	if !canBreak(oldAddOn, newAddOn) {
		return outcome{}, nil
	}
	evaluator, release, err := v.beginProtected(ctx)
	if err != nil || release == nil {
		return outcome{}, err
	}
	defer release()
	c := change{oldAddOn: oldAddOn, newAddOn: newAddOn, waitingEdges: protection.Broken{}, uncheckedEdges: protection.Unchecked{}}
	if canContradict, err := v.load(ctx, &c, evaluator.policies); err != nil || !canContradict {
		return outcome{}, err
	}
	review, err := v.reviewInstalled(ctx, &c)
	if err != nil || review.message == "" && review.waitMessage == "" && review.uncheckedMessage == "" {
		return outcome{}, err
	}
	var stored addonv1alpha1.ClusterManagementAddOn
	if err := v.live.Get(ctx, client.ObjectKeyFromObject(newAddOn), &stored); err != nil {
		return outcome{}, client.IgnoreNotFound(err)
	}
	review.object, review.kind = &stored, eventsof.ClusterManagementAddOn
	review.forceReason = newAddOn.Annotations[addonv1alpha1.ForceAnnotation]
	review.subject = fmt.Sprintf("the change of add-on '%s'", text.Name(newAddOn.Name))
	return review, nil
}

// load reads the AddOnTemplates and the declarations of a change. The bool reports whether the changed add-on can contradict anything.
func (v *RegistrationValidator) load(ctx context.Context, c *change, policies policy.Set) (bool, error) {
	if err := v.readTemplates(ctx, c); err != nil {
		return false, err
	}
	var err error
	if c.newEvaluator, err = v.declarations.loadChanged(ctx, policies, c.newAddOn, c.uncached); err != nil {
		return false, err
	}
	if !protection.MayContradict(c.newEvaluator.Catalog, c.newAddOn.Name) {
		return false, nil
	}
	if c.oldEvaluator, err = v.declarations.loadChanged(ctx, policies, c.oldAddOn, c.uncached); err != nil {
		return false, err
	}
	c.upgradesWait, err = v.upgradesWait(ctx, c.newEvaluator, c.newAddOn.Name)
	return err == nil, err
}

// reviewInstalled reviews a change on the managed clusters on which the add-on is installed and stays.
func (v *fleetReviewer) reviewInstalled(ctx context.Context, c *change) (outcome, error) {
	name := c.newAddOn.Name
	remaining, err := v.remainingClusters(ctx, c)
	if err != nil || len(remaining) == 0 {
		return outcome{}, err
	}
	if err := v.readSelections(ctx, c); err != nil {
		return outcome{}, err
	}
	c.affected = protection.Affected(c.newEvaluator.Catalog, name)
	names := sets.New(c.newEvaluator.addOnsToRead(c.affected)...).Insert(protection.Compared(c.newEvaluator.Catalog, name)...).Insert(name)
	installed, err := v.listFleetAddOns(ctx, sets.List(names), func(_, cluster string) bool { return remaining.Has(cluster) })
	if err != nil {
		return outcome{}, err
	}
	state := fleetState{
		isAffected: func(cluster string) bool { return remaining.Has(cluster) && installed[cluster][name] != nil },
		addOns:     installed,
		ocmVersion: v.lazyOCMVersion(),
		facts:      v.lazyFleetFacts(ctx),
		now:        v.now(),
	}
	message, mode, err := v.reviewClusters(ctx, c.newEvaluator, state, func(cluster clusterReader, broken protection.Broken) error {
		cluster.overrides = c.uncached
		return c.addBroken(ctx, cluster, broken)
	})
	return outcome{
		words:            changeWords,
		message:          message,
		waitMessage:      c.waitingEdges.Waiting(),
		uncheckedMessage: c.uncheckedEdges.Message(),
		mode:             mode,
	}, err
}

// remainingClusters returns the managed clusters on which the add-on is installed, and from which the change does not remove it.
func (v *fleetReviewer) remainingClusters(ctx context.Context, c *change) (sets.Set[string], error) {
	installed, err := v.clustersWith(ctx, c.newAddOn.Name)
	if err != nil || len(installed) == 0 {
		return nil, err
	}
	oldInstall, newInstall := catalog.InstallOf(c.oldAddOn), catalog.InstallOf(c.newAddOn)
	if !newInstall.Drops(oldInstall) {
		return sets.New(installed...), nil
	}
	unselected, err := v.findUnselected(ctx, oldInstall, newInstall)
	if err != nil || unselected == nil {
		return nil, err
	}
	return sets.New(slices.DeleteFunc(installed, unselected)...), nil
}

// readSelections reads the PlacementDecisions by which OCM chooses AddOnTemplates for managed clusters.
func (v *fleetReviewer) readSelections(ctx context.Context, c *change) error {
	selections := map[types.NamespacedName]sets.Set[string]{}
	for _, addOn := range []*addonv1alpha1.ClusterManagementAddOn{c.oldAddOn, c.newAddOn} {
		if c.editedTemplate == nil && fleet.SameTemplates(c.oldAddOn, c.newAddOn) || !fleet.PlacesTemplates(addOn) {
			continue
		}
		for _, placement := range catalog.InstallOf(addOn).Placements {
			clusters, decided, err := v.readSelection(ctx, placement)
			if err != nil {
				return err
			}
			if decided {
				selections[placement] = clusters
			}
		}
	}
	c.selections = func(placement types.NamespacedName) (func(string) bool, bool) {
		clusters, ok := selections[placement]
		return clusters.Has, ok
	}
	return nil
}

// readTemplates reads the AddOnTemplates that the registrations name, if the change names other ones.
func (v *RegistrationValidator) readTemplates(ctx context.Context, c *change) error {
	if fleet.SameTemplates(c.oldAddOn, c.newAddOn) {
		return nil
	}
	c.templates, c.uncached = templateOverrides{}, templateOverrides{}
	for _, name := range slices.Concat(declaration.NamedTemplates(c.oldAddOn), declaration.NamedTemplates(c.newAddOn)) {
		template, uncached, err := v.readTemplate(ctx, name)
		if err != nil {
			return err
		}
		if template == nil {
			continue
		}
		c.templates[name] = template
		if uncached {
			c.uncached[name] = template
		}
	}
	return nil
}

// addBroken adds the edges on a managed cluster that the change contradicts, and that the old state did not contradict.
func (c *change) addBroken(ctx context.Context, cluster clusterReader, broken protection.Broken) error {
	name := c.newAddOn.Name
	rollout, ok := c.rollOut(cluster)
	if !ok {
		return nil
	}
	if usable, err := c.usable(ctx, rollout); err != nil || !usable {
		return err
	}
	changed := ""
	if rollout.changesTemplate { // the agent is about to report another version
		changed = name
	}
	affected := cluster.addOns.withoutGated(c.affected, name)
	newFindings, err := rollout.newCluster.settledFindings(ctx, c.newEvaluator, affected, changed)
	if err != nil || len(protection.Contradictions(nil, newFindings)) == 0 && len(protection.UncheckedIn(nil, newFindings)) == 0 {
		return err
	}
	oldFindings, err := rollout.oldCluster.settledFindings(ctx, c.oldEvaluator, affected, changed)
	if err != nil {
		return err
	}
	maps.Copy(c.uncheckedEdges, protection.UncheckedIn(oldFindings, newFindings))
	contradicted := protection.Contradictions(oldFindings, newFindings)
	ownFindings := contradicted[name]
	if len(ownFindings) > 0 && rollout.changesTemplate && c.upgradesWait && fleet.Upgradable(cluster.addOns[name]) != nil {
		protection.Contradicted{name: ownFindings}.AddTo(c.waitingEdges, cluster.managedCluster.Name)
		delete(contradicted, name)
	}
	contradicted.AddTo(broken, cluster.managedCluster.Name)
	return nil
}

// usable reports whether the declaration that applies on a managed cluster can be used, before the change and after it. Another
// AddOnTemplate of the add-on that does not run there does not matter.
func (c *change) usable(ctx context.Context, rollout rollout) (bool, error) {
	states := []struct {
		cluster   clusterReader
		evaluator policyEvaluator
	}{{rollout.oldCluster, c.oldEvaluator}, {rollout.newCluster, c.newEvaluator}}
	for _, state := range states {
		key := types.NamespacedName{Namespace: state.cluster.managedCluster.Name, Name: c.newAddOn.Name}
		applied, ok, err := fleet.Loader{Reader: state.cluster}.DeclarationInForce(ctx, state.evaluator.Evaluator, key)
		if err != nil {
			return false, fmt.Errorf("find what %s declares: %w", key, err)
		}
		if !ok || applied.Invalid {
			return false, nil
		}
	}
	return true, nil
}

// rollout is a managed cluster before and after a change, each once OCM has rolled out the AddOnTemplate of that state.
type rollout struct {
	oldCluster, newCluster clusterReader
	changesTemplate        bool
}

// rollOut returns the rollout of the change on a managed cluster. The bool is false if the AddOnTemplate before or after the change is
// not known.
func (c *change) rollOut(cluster clusterReader) (rollout, bool) {
	if c.editedTemplate != nil {
		return c.editedTemplate.rollOut(cluster, c)
	}
	sameTemplate := rollout{oldCluster: cluster, newCluster: cluster}
	if fleet.SameTemplates(c.oldAddOn, c.newAddOn) {
		return sameTemplate, true
	}
	addOn := cluster.addOns[c.newAddOn.Name]
	oldTemplate, oldKnown := fleet.TemplateOf(addOn, c.oldAddOn, c.selections)
	newTemplate, newKnown := fleet.TemplateOf(addOn, c.newAddOn, c.selections)
	switch {
	case !oldKnown || !newKnown:
		return rollout{}, false
	case oldTemplate == newTemplate:
		return sameTemplate, true
	case newTemplate == "": // the version that will run is not known
		return rollout{}, false
	case c.templates[newTemplate] == nil: // GitOps may create it later
		return rollout{}, false
	}
	otherTemplate := rollout{
		oldCluster:      cluster,
		newCluster:      cluster.withAddOn(fleet.WithTemplate(addOn, newTemplate)),
		changesTemplate: true,
	}
	if oldTemplate != "" {
		otherTemplate.oldCluster = cluster.withAddOn(fleet.WithTemplate(addOn, oldTemplate))
	}
	return otherTemplate, true
}
