package report

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/graph"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// Graph has the dependencies of add-ons, with their state on the managed clusters.
type Graph struct {
	metav1.TypeMeta `json:",inline"`
	// Taken is when the hub was read.
	Taken time.Time `json:"taken"`
	// Cluster and AddOn limit the graph, unless they are empty.
	Cluster string `json:"cluster,omitempty"`
	AddOn   string `json:"addOn,omitempty"`
	// Nodes are add-ons, APIs and requirements, by name.
	Nodes []GraphNode `json:"nodes"`
	// Edges are ordered by dependent, then as declared.
	Edges []GraphEdge `json:"edges"`
}

// GraphNode is an add-on, an API or a requirement.
type GraphNode struct {
	Name string `json:"name"`
	// Kind is AddOn, API or Requirement.
	Kind NodeKind `json:"kind"`
	// Clusters is the number of clusters on which the add-on is installed. Working, Failing and Held are its parts where Available is
	// True, False and Unknown.
	Clusters int `json:"clusters"`
	Working  int `json:"working"`
	Failing  int `json:"failing"`
	Held     int `json:"held"`
}

// NodeKind is the kind of a node.
type NodeKind string

// The kinds of nodes.
const (
	NodeAddOn       NodeKind = "AddOn"
	NodeAPI         NodeKind = "API"
	NodeRequirement NodeKind = "Requirement"
)

// GraphEdge is a declared edge.
type GraphEdge struct {
	// Dependent and Target are the names of nodes.
	Dependent string                       `json:"from"`
	Target    string                       `json:"to"`
	Name      string                       `json:"name"`
	Type      addonv1alpha1.DependencyType `json:"type"`
	// Version is the range that the edge accepts.
	Version string `json:"version,omitempty"`
	// Alternative is whether the edge is an alternative of another edge with the same name. Alternatives share their numbers, because a
	// single satisfied alternative satisfies all.
	Alternative bool `json:"alternative,omitempty"`
	// Conditional is whether the edge applies on some clusters only.
	Conditional bool `json:"conditional,omitempty"`
	// Satisfied, Unsatisfied and Held are numbers of clusters.
	Satisfied   int `json:"satisfied"`
	Unsatisfied int `json:"unsatisfied"`
	Held        int `json:"held"`
}

// FindGraph returns the graph of a fleet, or of one managed cluster. With an add-on, it has only the direct and indirect
// dependencies and dependents of that add-on.
func FindGraph(hub *snapshot.Snapshot, cluster, addOn string) *Graph {
	g := &grapher{hub: hub, nodes: map[string]*GraphNode{}, edges: map[[2]string][]*GraphEdge{}}
	g.addDeclarations()
	for _, name := range hub.Names() {
		if cmp.Or(cluster, name) == name {
			g.count(name)
		}
	}
	result := &Graph{
		TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "DependencyGraph"}, Taken: hub.Taken,
		Cluster: cluster, AddOn: addOn, Nodes: []GraphNode{}, Edges: []GraphEdge{},
	}
	near := g.near(addOn)
	for _, edge := range g.order {
		if near == nil || near[edge.Dependent] && near[edge.Target] {
			result.Edges = append(result.Edges, *edge)
		}
	}
	for name, node := range g.nodes {
		if near == nil && (node.Clusters > 0 || g.isOnEdge(name)) || near[name] {
			result.Nodes = append(result.Nodes, *node)
		}
	}
	slices.SortFunc(result.Nodes, func(a, b GraphNode) int { return cmp.Compare(a.Name, b.Name) })
	return result
}

// grapher collects a graph.
type grapher struct {
	hub   *snapshot.Snapshot
	nodes map[string]*GraphNode
	edges map[[2]string][]*GraphEdge // by dependent and name of the edge
	order []*GraphEdge
}

func (g *grapher) node(name string, kind NodeKind) *GraphNode {
	if g.nodes[name] == nil {
		g.nodes[name] = &GraphNode{Name: name, Kind: kind}
	}
	return g.nodes[name]
}

// addDeclarations adds the declarations of all add-ons. An edge that only an AddOnTemplate declares applies where the template runs.
func (g *grapher) addDeclarations() {
	for _, addOn := range g.hub.Declared.AddOns() {
		g.node(addOn, NodeAddOn)
		g.addDeclaration(addOn, g.hub.Declared.Declaration(addOn), false)
		for _, template := range g.hub.Declared.Variants(addOn) {
			_, decl, _ := g.hub.Declared.Template(template)
			g.addDeclaration(addOn, decl, true)
		}
	}
}

// addDeclaration adds the edges of a declaration of an add-on that its other declarations do not have.
func (g *grapher) addDeclaration(addOn string, decl declaration.Declaration, ofTemplate bool) {
	for i := range decl.Edges {
		edge := &decl.Edges[i].Dependency
		if ofTemplate && g.edges[[2]string{addOn, edge.Name}] != nil {
			continue
		}
		for _, finding := range evaluation.Named(edge) {
			kind := NodeAddOn
			if finding.Dependency.API != nil {
				kind = NodeAPI
			}
			added := g.add(addOn, &finding, kind)
			added.Version, added.Conditional = finding.Dependency.Version, ofTemplate || edge.When != nil
			added.Alternative = declaration.HasAlternatives(edge)
		}
	}
	for i := range decl.Platform {
		finding := evaluation.Finding{Requirement: &decl.Platform[i]}
		if !ofTemplate || g.edges[[2]string{addOn, finding.Name()}] == nil {
			g.add(addOn, &finding, NodeRequirement).Conditional = ofTemplate
		}
	}
}

func (g *grapher) add(dependent string, finding *evaluation.Finding, kind NodeKind) *GraphEdge {
	edge := &GraphEdge{Dependent: dependent, Target: finding.Target(), Name: finding.Name(), Type: finding.Type()}
	g.node(edge.Target, kind)
	ends := [2]string{dependent, edge.Name}
	g.edges[ends] = append(g.edges[ends], edge)
	g.order = append(g.order, edge)
	return edge
}

// count adds the state of the add-ons and edges on a managed cluster.
func (g *grapher) count(cluster string) {
	findings, isLost := g.hub.Evaluated(cluster), g.hub.Lost(cluster)
	for _, addOn := range g.hub.Installed(cluster) {
		node := g.node(addOn.Name, NodeAddOn)
		node.Clusters++
		status := statusOf(addOn)
		if isLost {
			status = metav1.ConditionUnknown // The stored status may be outdated.
		}
		switch status {
		case metav1.ConditionTrue:
			node.Working++
		case metav1.ConditionFalse:
			node.Failing++
		default:
			node.Held++
		}
		for _, finding := range findings(addOn.Name) {
			for _, edge := range g.edges[[2]string{addOn.Name, finding.Name()}] {
				switch {
				case finding.Unsatisfied():
					edge.Unsatisfied++
				case finding.Verdict == evaluation.Satisfied:
					edge.Satisfied++
				case finding.Held():
					edge.Held++
				}
			}
		}
	}
}

func (g *grapher) isOnEdge(name string) bool {
	return slices.ContainsFunc(g.order, func(edge *GraphEdge) bool { return edge.Dependent == name || edge.Target == name })
}

// near returns the direct and indirect dependencies and dependents of an add-on. It returns nil without an add-on.
func (g *grapher) near(addOn string) map[string]bool {
	if addOn == "" {
		return nil
	}
	dependencies, dependents := map[string][]string{}, map[string][]string{}
	for _, edge := range g.order {
		dependencies[edge.Dependent] = append(dependencies[edge.Dependent], edge.Target)
		dependents[edge.Target] = append(dependents[edge.Target], edge.Dependent)
	}
	near := map[string]bool{addOn: true}
	for _, edges := range []map[string][]string{dependencies, dependents} {
		for _, name := range graph.New(edges).Reachable(addOn) {
			near[name] = true
		}
	}
	return near
}

func statusOf(addOn *addonv1alpha1.ManagedClusterAddOn) metav1.ConditionStatus {
	if available := fleet.Available(addOn); available != nil {
		return available.Status
	}
	return metav1.ConditionUnknown
}
