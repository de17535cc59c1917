package stability

import (
	"fmt"
	"strings"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
)

// check explores the world. Every fair schedule has to end, and no write may break a rule. A state that only
// interventions change has to be correct. Of each problem, check reports one of the shortest schedules.
func (m *installationModel) check() result {
	g := explore(m.starts(), m.steps)
	exploration := result{states: len(g.states), edges: len(g.edges)}
	reported := map[string]bool{}
	report := func(problem string, path func() []edge) {
		if problem != "" && !reported[problem] {
			reported[problem] = true
			exploration.problems = append(exploration.problems, problem+":\n"+m.schedule(g, path()))
		}
	}
	for _, component := range g.livelocks(m.steps) {
		report("never ends", func() []edge { return g.path(component[0]) })
	}
	for _, e := range g.edges {
		if m.steps[e.step].interlock {
			report(m.brokenBy(&g.states[e.source], &g.states[e.target]), func() []edge { return append(g.path(e.source), e) })
		}
	}
	for i := range g.states {
		if m.quiet(g, int32(i)) {
			report(m.broken(&g.states[i].Hub, g.states[i].HandedOver), func() []edge { return g.path(int32(i)) })
		}
	}
	return exploration
}

// quiet reports whether only interventions change a state.
func (m *installationModel) quiet(g *graph[InstallationState], state int32) bool {
	for _, possible := range g.edgesFrom(state) {
		if !m.steps[possible.step].environment {
			return false
		}
	}
	return true
}

// brokenBy returns the rule that a write of addon-manager breaks, given the objects that the API server stored at its
// decision. It is empty if the write breaks none.
func (m *installationModel) brokenBy(before, after *InstallationState) string {
	write := &before.Write
	if before.FormerWrite.Next != after.FormerWrite.Next {
		write = &before.FormerWrite
	}
	read := &write.HubAtDecision
	removes := before.Hub.Cluster.OwnLabel && !after.Hub.Cluster.OwnLabel || !before.Hub.AddOn.Deleting && after.Hub.AddOn.Deleting
	installs := !before.Hub.Cluster.OwnLabel && after.Hub.Cluster.OwnLabel || before.Hub.AddOn.UID == 0 && after.Hub.AddOn.UID != 0
	switch {
	case write.Next != acting || !removes && !installs:
		return ""
	case read.Cluster.Lost:
		return "acts on a lost cluster"
	case read.Owner != consenting:
		return "acts without consent"
	case installs:
		return ""
	case used(*read) == installation.Used:
		return "removes an add-on that others use"
	case read.AddOn.Changed:
		return "removes an add-on that another writer has taken over"
	case read.Record == record{}:
		return "removes an add-on that was handed over"
	case !m.Removable:
		return "removes an add-on that its edge keeps"
	}
	return ""
}

// broken returns the rule that a quiet state breaks, or "".
func (m *installationModel) broken(hub *installationObjects, handedOver bool) string {
	acts := hub.Cluster.state() == installation.ClusterReady && hub.Owner == consenting
	recorded := hub.Record != record{}
	switch {
	case acts && hub.Dependent == present && hub.AddOn.UID == 0:
		return "a dependent waits for ever"
	case acts && m.Removable && recorded && used(*hub) == installation.Unused && hub.Record.Phase != dependencyv1alpha1.PhaseKept:
		return "what no add-on uses stays"
	case recorded && hub.AddOn.UID == 0 && hub.Dependent == absent && !hub.Cluster.labeled():
		return "the record of an add-on that is gone stays"
	case hub.Cluster.OwnLabel && !recorded && !handedOver:
		return "a label has no record"
	case hub.AddOn.Own && !hub.AddOn.Changed && !recorded && !handedOver:
		return "an add-on has no record"
	case recorded && hub.Cluster.UID != hub.Record.Cluster:
		return "the record of another cluster stays"
	}
	return ""
}

func (m *installationModel) schedule(g *graph[InstallationState], path []edge) string {
	lines := []string{"  in " + m.String()}
	if len(path) > 0 {
		lines = append(lines, "  from "+g.states[path[0].source].String())
	}
	for number, e := range path {
		lines = append(lines, fmt.Sprintf("  %d. %s: %s", number+1, m.steps[e.step].name, g.states[e.target]))
	}
	return strings.Join(lines, "\n") + "\n"
}
