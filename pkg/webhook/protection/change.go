package protection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/gate"
	"open-cluster-management.io/interlock/pkg/dependency/protection"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	eventsof "open-cluster-management.io/interlock/pkg/events"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/leadership"
	"open-cluster-management.io/interlock/pkg/text"
)

// change is another state of a registration: another version, other AddOnTemplates or another declaration.
type change struct {
	was, is *addonv1alpha1.ClusterManagementAddOn
	// before and after are what is declared with each of the two.
	before, after declared
	// affected are the add-ons that it can break.
	affected []string
	// selecting returns what Placements select, by both install strategies.
	selecting fleet.Selecting
	// edited is set where an AddOnTemplate of the registration changes, and not the registration itself.
	edited *editedTemplate
	// held: another AddOnTemplate waits on each cluster until what it requires is satisfied there. waiting are the edges for which it
	// would.
	held    bool
	waiting protection.Broken
	// unchecked are the edges of which no version is known any more after the change, on any managed cluster.
	unchecked protection.Unchecked
	// templates are the AddOnTemplates that one of the two names, and that exist; fresh are those that the cache does not have yet.
	templates, fresh newTemplates
}

// concerns reports whether a change of a registration can break anything at all, without reading anything.
func concerns(was, is *addonv1alpha1.ClusterManagementAddOn) bool {
	return !declaration.SameDeclared(was, is) || versions.In(was.Annotations) != versions.In(is.Annotations) || !fleet.SameTemplates(was, is)
}

// reviewChange finds what contradicts another version, other AddOnTemplates or another declaration of an add-on, on the
// managed clusters on which it is installed. What is not known is not refused.
func (v *RegistrationValidator) reviewChange(ctx context.Context, was, is *addonv1alpha1.ClusterManagementAddOn) (found, error) {
	if !concerns(was, is) {
		return found{}, nil
	}
	under, done, err := v.beginProtected(ctx)
	if done == nil {
		return found{}, err
	}
	defer done()
	c := change{was: was, is: is, waiting: protection.Broken{}, unchecked: protection.Unchecked{}}
	if err := v.readTemplates(ctx, &c); err != nil {
		return found{}, err
	}
	if c.after, err = v.declared.with(ctx, under.policies, is, c.fresh); err != nil || !protection.MayContradict(c.after.Catalog, is.Name) {
		return found{}, err
	}
	if c.before, err = v.declared.with(ctx, under.policies, was, c.fresh); err != nil {
		return found{}, err
	}
	if c.held, err = v.holds(ctx, c.after, is.Name); err != nil {
		return found{}, err
	}
	review, err := v.reviewOnClusters(ctx, &c)
	if err != nil || review.message == "" && review.waits == "" && review.unchecked == "" {
		return found{}, err
	}
	var stored addonv1alpha1.ClusterManagementAddOn
	if err := v.live.Get(ctx, client.ObjectKeyFromObject(is), &stored); err != nil {
		return found{}, client.IgnoreNotFound(err)
	}
	review.object, review.kind, review.forced = &stored, eventsof.ClusterManagementAddOn, is.Annotations[addonv1alpha1.ForceAnnotation]
	review.does = fmt.Sprintf("the change of add-on '%s'", text.Name(is.Name))
	return review, nil
}

// holds reports whether other AddOnTemplates of an add-on wait on each cluster until what they require is satisfied there. So such a
// need is not refused, because waiting can satisfy it.
func (r reviewer) holds(ctx context.Context, under declared, addOn string) (bool, error) {
	if r.lifecycle == nil || !gate.OrdersUpgrades(under.Declaration(addOn)) {
		return false, nil
	}
	err := r.lifecycle.Require(ctx)
	if errors.Is(err, leadership.ErrNoLifecycle) {
		return false, nil
	}
	return err == nil, err
}

// reviewOnClusters reviews a change on the managed clusters on which the add-on is installed and stays.
func (v *fleetReviewer) reviewOnClusters(ctx context.Context, c *change) (found, error) {
	name := c.is.Name
	stays, err := v.staying(ctx, c)
	if err != nil || len(stays) == 0 {
		return found{}, err
	}
	if err := v.choose(ctx, c); err != nil {
		return found{}, err
	}
	c.affected = protection.Affected(c.after.Catalog, name)
	read := sets.New(c.after.read(c.affected)...).Insert(protection.Compared(c.after.Catalog, name)...).Insert(name)
	on, err := v.listAll(ctx, sets.List(read), func(_, cluster string) bool { return stays.Has(cluster) })
	if err != nil {
		return found{}, err
	}
	now := v.now()
	message, mode, err := v.onClusters(ctx, c.after, fleetState{
		concerns: func(cluster string) bool { return stays.Has(cluster) && on[cluster][name] != nil },
		addOns:   on, ocm: v.ocmOnce(), facts: v.factsByAgents(ctx), now: now,
	}, func(as clusterReader, into protection.Broken) error {
		as.changed = c.fresh
		return c.breaks(ctx, as, into)
	})
	return found{request: toChange, message: message, waits: c.waiting.Waiting(), unchecked: c.unchecked.Message(), mode: mode}, err
}

// staying returns the managed clusters on which the add-on is installed, and from which the change does not remove it.
func (v *fleetReviewer) staying(ctx context.Context, c *change) (sets.Set[string], error) {
	installed, err := v.where(ctx, c.is.Name)
	if err != nil || len(installed) == 0 {
		return nil, err
	}
	was, is := catalog.InstallOf(c.was), catalog.InstallOf(c.is)
	if !is.Drops(was) {
		return sets.New(installed...), nil
	}
	leaves, err := v.unselected(ctx, was, is)
	if err != nil || leaves == nil {
		return nil, err
	}
	return sets.New(slices.DeleteFunc(installed, leaves)...), nil
}

// choose reads what is needed to know which AddOnTemplates OCM chooses.
func (v *fleetReviewer) choose(ctx context.Context, c *change) error {
	selected := map[types.NamespacedName]sets.Set[string]{}
	for _, one := range []*addonv1alpha1.ClusterManagementAddOn{c.was, c.is} {
		if c.edited == nil && fleet.SameTemplates(c.was, c.is) || !fleet.PlacesTemplates(one) {
			continue
		}
		for _, placement := range catalog.InstallOf(one).Placements {
			clusters, decided, err := v.selected(ctx, placement)
			if err != nil {
				return err
			}
			if decided {
				selected[placement] = clusters
			}
		}
	}
	c.selecting = func(placement types.NamespacedName) (func(string) bool, bool) {
		clusters, known := selected[placement]
		return clusters.Has, known
	}
	return nil
}

// readTemplates reads the AddOnTemplates that a change names, where it names other ones.
func (v *RegistrationValidator) readTemplates(ctx context.Context, c *change) error {
	if fleet.SameTemplates(c.was, c.is) {
		return nil
	}
	c.templates, c.fresh = newTemplates{}, newTemplates{}
	for _, name := range slices.Concat(declaration.NamedTemplates(c.was), declaration.NamedTemplates(c.is)) {
		template, fresh, err := v.template(ctx, name)
		if err != nil {
			return err
		}
		if template == nil {
			continue
		}
		c.templates[name] = template
		if fresh {
			c.fresh[name] = template
		}
	}
	return nil
}

// breaks adds what contradicts the change on a managed cluster, and did not before.
func (c *change) breaks(ctx context.Context, as clusterReader, into protection.Broken) error {
	was, is, another, known := c.rolledOut(as)
	if !known {
		return nil
	}
	if usable, err := c.usable(ctx, was, is); err != nil || !usable {
		return err
	}
	changed := ""
	if another { // its agent is about to report another version
		changed = c.is.Name
	}
	affected := as.addOns.begun(c.affected, c.is.Name)
	after, err := is.settledFindings(ctx, c.after, affected, changed)
	if err != nil || len(protection.Contradictions(nil, after)) == 0 && len(protection.UncheckedIn(nil, after)) == 0 {
		return err
	}
	before, err := was.settledFindings(ctx, c.before, affected, changed)
	if err != nil {
		return err
	}
	for addOn, findings := range protection.UncheckedIn(before, after) {
		c.unchecked[addOn] = findings
	}
	contradicted := protection.Contradictions(before, after)
	if own := contradicted[c.is.Name]; len(own) > 0 && another && c.held && fleet.Upgradable(as.addOns[c.is.Name]) != nil {
		protection.Contradicted{c.is.Name: own}.AddTo(c.waiting, as.cluster.Name)
		delete(contradicted, c.is.Name)
	}
	contradicted.AddTo(into, as.cluster.Name)
	return nil
}

// usable reports whether what counts on a managed cluster can be used, before the change and after it. Another AddOnTemplate of
// the add-on, which does not run there, does not matter.
func (c *change) usable(ctx context.Context, was, is clusterReader) (bool, error) {
	for _, one := range []struct {
		on    clusterReader
		under declared
	}{{was, c.before}, {is, c.after}} {
		key := types.NamespacedName{Namespace: one.on.cluster.Name, Name: c.is.Name}
		counting, known, err := fleet.Loader{Reader: one.on}.Counting(ctx, one.under.Evaluator, key)
		if err != nil {
			return false, fmt.Errorf("find what %s declares: %w", key, err)
		}
		if !known || counting.Invalid {
			return false, nil
		}
	}
	return true, nil
}

// rolledOut returns a managed cluster with the AddOnTemplate from before the change, and with that of after it, each once
// OCM has rolled it out. Where the change does not choose another one, it is the cluster as it is.
func (c *change) rolledOut(as clusterReader) (was, is clusterReader, another, known bool) {
	if c.edited != nil {
		return c.edited.rolledOut(as, c)
	}
	if fleet.SameTemplates(c.was, c.is) {
		return as, as, false, true
	}
	addOn := as.addOns[c.is.Name]
	before, knownBefore := fleet.TemplateOf(addOn, c.was, c.selecting)
	after, knownAfter := fleet.TemplateOf(addOn, c.is, c.selecting)
	if !knownBefore || !knownAfter {
		return as, as, false, false
	}
	if before == after {
		return as, as, false, true
	}
	if after == "" { // what runs then is not known
		return as, as, false, false
	}
	if c.templates[after] == nil { // GitOps may create it later
		return as, as, false, false
	}
	was, is = as, as.with(fleet.WithTemplate(addOn, after))
	if before != "" {
		was = as.with(fleet.WithTemplate(addOn, before))
	}
	return was, is, true, true
}

// with returns the cluster with another state of an add-on.
func (s clusterReader) with(addOn *addonv1alpha1.ManagedClusterAddOn) clusterReader {
	s.addOns = maps.Clone(s.addOns)
	s.addOns[addOn.Name] = addOn
	return s
}

// ocmOnce reads the version of OCM once, when it is first needed.
func (v *fleetReviewer) ocmOnce() ocmVersion {
	type result struct {
		version string
		read    bool
	}
	var once sync.Once
	var found result
	var err error
	return func(ctx context.Context) (string, bool, error) {
		once.Do(func() { found.version, found.read, err = fleet.Objects{Reader: v.live}.OCMVersion(ctx) })
		return found.version, found.read, err
	}
}
