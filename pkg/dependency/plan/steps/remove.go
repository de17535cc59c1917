package steps

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/text"
)

// Removal is a user's request to remove add-ons.
type Removal struct {
	AddOns []string
	// Unit is whether to remove the dependencies, too, that no other add-on needs, if Interlock or the plugin has installed them and
	// no other writer has taken them over.
	Unit bool
	// Forced is whether to remove add-ons that staying add-ons require.
	Forced bool
	// Wait is whether a dependency waits until its dependents that are being deleted already are gone.
	Wait bool
}

// Remove plans the removal of add-ons from managed clusters, dependents first.
func Remove(evaluator *evaluation.Evaluator, request Removal, clusters []Cluster) *Plan {
	return mergePlans(clusters, func(cluster Cluster) *clusterPlan { return remove(evaluator, request, cluster) })
}

// removing builds the plan of a removal from one managed cluster.
type removing struct {
	*clusterPlan
	evaluator *evaluation.Evaluator
	cluster   Cluster
	request   Removal
	// installed are the add-ons that are not being deleted.
	installed map[string]evaluation.Observation
	// deleting are the add-ons that are being deleted already, observed as if they were not.
	deleting map[string]evaluation.Observation
}

func remove(evaluator *evaluation.Evaluator, request Removal, cluster Cluster) *clusterPlan {
	r := &removing{
		clusterPlan: newClusterPlan(), evaluator: evaluator, cluster: cluster, request: request,
		installed: map[string]evaluation.Observation{}, deleting: map[string]evaluation.Observation{},
	}
	for name, observed := range cluster.AddOns {
		switch {
		case !observed.Installed:
		case observed.Removed.IsZero():
			r.installed[name] = observed
		default:
			observed.Removed = time.Time{}
			r.deleting[name] = observed
		}
	}
	if cluster.Lost() {
		r.refuse("the managed cluster cannot be reached, so it is not known what is needed there")
	}
	for _, name := range request.AddOns {
		r.addNamed(name)
	}
	if request.Unit {
		for r.addUnneeded() {
			continue
		}
	}
	r.reportRequirements()
	edges := r.edges()
	if request.Wait {
		r.waitForRemoved(edges)
	} else {
		maps.DeleteFunc(r.because, func(addOn string, _ sets.Set[string]) bool { return r.waits.Has(addOn) })
	}
	r.layers = layersOf(reverse(edges), r.hasStep)
	return r.clusterPlan
}

// refuse adds a problem. A forced removal has a finding instead.
func (r *removing) refuse(sentence string) {
	if r.request.Forced {
		r.findings.Insert(sentence)
	} else {
		r.problems.Insert(sentence)
	}
}

// addNamed gives a named add-on a step if it is installed.
func (r *removing) addNamed(addOn string) {
	name, install := text.Name(addOn), r.evaluator.Install(addOn)
	selected, readable := r.cluster.isSelected(addOn)
	_, installed := r.installed[addOn]
	switch {
	case !installed && r.cluster.AddOns[addOn].Installed:
		r.findings.Insert(fmt.Sprintf("'%s' is being removed already", name))
		r.waits.Insert(addOn)
		r.addStep(addOn, "")
		return
	case !installed:
		r.findings.Insert(fmt.Sprintf("'%s' is not installed", name))
		return
	case install.Placed && (selected || !readable):
		r.problems.Insert(placedMessage(r.evaluator.Catalog, addOn, readable))
	}
	r.addStep(addOn, "")
}

// addUnneeded adds the add-ons that only removed add-ons need, and reports whether it added any. Add-ons that are being deleted already
// are part of the unit, so that another run continues an interrupted one.
func (r *removing) addUnneeded() bool {
	added := false
	for _, addOn := range slices.Sorted(maps.Keys(r.withDeleting())) {
		if r.hasStep(addOn) || !r.cluster.Owned.Has(addOn) || r.evaluator.Install(addOn).Placed {
			continue
		}
		dependents, needed := sets.New[string](), false
		for dependent := range r.withDeleting() {
			_, deleting := r.deleting[dependent]
			switch {
			case dependent == addOn || !installation.MayUse(r.evaluator.Catalog, dependent, addOn):
			case r.hasStep(dependent):
				dependents.Insert(dependent)
			case deleting:
			default:
				needed = true
			}
		}
		switch {
		case needed || len(dependents) == 0:
			continue
		case r.cluster.Taken.Has(addOn):
			r.findings.Insert(fmt.Sprintf("'%s' stays, although no other add-on needs it: another writer than Interlock and kubectl addon has "+
				"written its spec, its labels or its own annotations. Name it to uninstall it, too", text.Name(addOn)))
			continue
		}
		added = true
		if _, deleting := r.deleting[addOn]; deleting {
			r.waits.Insert(addOn)
		}
		for dependent := range dependents {
			r.addStep(addOn, dependent)
		}
	}
	return added
}

// reportRequirements refuses the removal of add-ons that staying add-ons require.
func (r *removing) reportRequirements() {
	removed := sets.KeySet(r.because).Difference(r.waits)
	after := maps.Clone(r.installed)
	maps.DeleteFunc(after, func(name string, _ evaluation.Observation) bool { return removed.Has(name) })
	for dependent := range after {
		findings := settle(r.evaluator, r.cluster, after, dependent)
		edges, err := protection.Taken(dependent, removed, findings, func() ([]evaluation.Finding, error) {
			return settle(r.evaluator, r.cluster, r.installed, dependent), nil
		})
		if err != nil {
			continue // the function above returns none
		}
		for edge := range edges {
			r.refuse(fmt.Sprintf("'%s', which stays, %s", text.Name(dependent), edge.Text()))
		}
	}
}

// withDeleting returns the installed add-ons, also those that are being deleted already.
func (r *removing) withDeleting() map[string]evaluation.Observation {
	addOns := maps.Clone(r.installed)
	maps.Copy(addOns, r.deleting)
	return addOns
}

// edges returns the installed add-ons that each installed add-on waits for.
func (r *removing) edges() map[string][]string {
	addOns := r.withDeleting()
	edges := make(map[string][]string, len(addOns))
	exists := func(addOn string) bool { _, ok := addOns[addOn]; return ok }
	for name := range addOns {
		edges[name] = nil
		findings := settle(r.evaluator, r.cluster, addOns, name)
		for f := range findings {
			edges[name] = append(edges[name], awaitedBy(r.evaluator, &findings[f], exists)...)
		}
	}
	return edges
}
