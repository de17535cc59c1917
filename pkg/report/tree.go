package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// Trees are the dependencies or dependents of an add-on on the managed clusters where it
// is installed. Clusters with the same tree share one.
type Trees struct {
	metav1.TypeMeta `json:",inline"`
	// Taken is when the hub was read.
	Taken time.Time `json:"taken"`
	AddOn string    `json:"addOn"`
	// Direction is Dependencies or Dependents.
	Direction Direction `json:"direction"`
	Items     []Tree    `json:"items"`
}

// Direction is where a tree leads.
type Direction string

// The directions.
const (
	Dependencies Direction = "Dependencies"
	Dependents   Direction = "Dependents"
)

// Tree is an add-on with what it depends on, or what depends on it.
type Tree struct {
	// Clusters have this tree, ascending.
	Clusters []string `json:"clusters"`
	// Lost: the clusters cannot be reached, so nothing new is known of them.
	Lost bool `json:"lost,omitempty"`
	Node `json:",inline"`
}

// Node is an add-on, an API or a requirement in a tree.
type Node struct {
	// Name of the add-on, or of the edge where it is on none.
	Name string `json:"name"`
	// Edge is the name that the dependent gives the edge, where it is another one.
	Edge string `json:"edge,omitempty"`
	// Providers are registered add-ons that bring the API.
	Providers []string `json:"providers,omitempty"`
	// Type and Verdict are those of the edge that leads here. The root has no edge: its verdict
	// is NotInstalled where it is not installed, else empty.
	Type    addonv1alpha1.DependencyType `json:"type,omitempty"`
	Verdict evaluation.Verdict           `json:"verdict,omitempty"`
	// Message describes an edge that is not satisfied, or why it is held.
	Message string `json:"message,omitempty"`
	// Available and Reason are those of the add-on's condition, empty where it has none.
	Available metav1.ConditionStatus `json:"available,omitempty"`
	Reason    string                 `json:"reason,omitempty"`
	// Since is when Available changed last. In a tree of several clusters, it and the
	// message are those of the first one.
	Since time.Time `json:"since,omitzero"`
	// Bundle: the add-on has no agent, and is available where all that it requires is.
	Bundle bool `json:"bundle,omitempty"`
	// Gate is closed where the add-on is not installed yet, because it waits for its dependencies; else empty.
	Gate string `json:"gate,omitempty"`
	// Repeated: its nodes are shown elsewhere in the tree.
	Repeated bool   `json:"repeated,omitempty"`
	Nodes    []Node `json:"nodes,omitempty"`
	// Alternatives are what the edge is on where it has alternatives: one that is satisfied is enough. They have a verdict
	// where none is.
	Alternatives []Node `json:"alternatives,omitempty"`
}

// OK reports whether all is known to be well.
func (t *Tree) OK() bool { return !t.Lost && t.Node.OK() }

// OK reports whether every add-on of a tree works, and every edge is satisfied.
func (n *Node) OK() bool {
	if n.Available != metav1.ConditionTrue && n.Verdict == "" || n.Verdict != "" && n.Verdict != evaluation.Satisfied && n.Verdict != evaluation.NotApplicable {
		return false
	}
	return !slices.ContainsFunc(n.Nodes, func(node Node) bool { return !node.OK() })
}

// FindTrees returns the trees of an add-on. Without grouping, each cluster has its own.
func FindTrees(hub *snapshot.Snapshot, addOn, cluster string, direction Direction, grouping bool) *Trees {
	trees := &Trees{
		TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "DependencyTrees"}, Taken: hub.Taken, AddOn: addOn, Direction: direction, Items: []Tree{},
	}
	groups := map[string]int{}
	for _, name := range hub.Names() {
		if cluster != "" && cluster != name || !roots(hub, name, addOn, direction) {
			continue
		}
		grower := &grower{hub: hub, cluster: name, findings: hub.Evaluated(name), direction: direction, grown: map[string]bool{}}
		root := grower.grow(Node{Name: addOn})
		if !hub.IsOn(name, addOn) {
			root.Verdict = evaluation.NotInstalled
		}
		tree := Tree{Clusters: []string{name}, Lost: hub.Lost(name), Node: root}
		shape := shapeOf(&tree)
		if i, ok := groups[shape]; ok && grouping {
			trees.Items[i].Clusters = append(trees.Items[i].Clusters, name)
			continue
		}
		groups[shape] = len(trees.Items)
		trees.Items = append(trees.Items, tree)
	}
	sortTrees(trees.Items)
	return trees
}

// roots reports whether an add-on has a tree on a managed cluster: it does if it is installed, or if an installed add-on depends on
// it.
func roots(hub *snapshot.Snapshot, cluster, addOn string, direction Direction) bool {
	return hub.IsOn(cluster, addOn) || direction == Dependents &&
		slices.ContainsFunc(hub.Declared.Dependents(addOn), func(dependent string) bool { return hub.IsOn(cluster, dependent) })
}

// grower makes the tree of one cluster.
type grower struct {
	hub       *snapshot.Snapshot
	cluster   string
	findings  func(addOn string) []evaluation.Finding
	direction Direction
	// grown are the add-ons that are in the tree, and whether they have nodes.
	grown map[string]bool
}

// grow adds the nodes below an add-on.
func (g *grower) grow(node Node) Node {
	addOn := g.hub.AddOnOn(types.NamespacedName{Namespace: g.cluster, Name: node.Name})
	if addOn == nil && g.direction == Dependencies {
		return node
	}
	if addOn == nil {
		node.Nodes = g.dependents(node.Name) // of what is not installed, only the root gets here
		return node
	}
	if available := fleet.Available(addOn); available != nil {
		node.Available, node.Reason, node.Since = available.Status, available.Reason, available.LastTransitionTime.UTC()
	}
	node.Bundle = g.hub.Declared.Install(node.Name).Bundle
	if fleet.GateClosed(addOn) {
		node.Gate = addonv1alpha1.GateClosed
	}
	if hasMore, grown := g.grown[node.Name]; grown {
		node.Repeated = hasMore
		return node
	}
	g.grown[node.Name] = true // its own nodes may lead back to it
	if g.direction == Dependents {
		node.Nodes = g.dependents(node.Name)
	} else {
		node.Nodes = g.dependencies(node.Name)
	}
	g.grown[node.Name] = len(node.Nodes) > 0
	return node
}

func (g *grower) dependencies(addOn string) (nodes []Node) {
	for _, finding := range g.findings(addOn) {
		node := edge(&finding, finding.Target())
		if finding.Dependency != nil && declaration.HasAlternatives(finding.Dependency) {
			node.Alternatives = g.alternatives(&finding)
			nodes = append(nodes, node)
			continue
		}
		nodes = append(nodes, g.end(&finding, node))
	}
	return nodes
}

// end completes the node of an add-on, API or requirement.
func (g *grower) end(finding *evaluation.Finding, node Node) Node {
	if finding.API() != "" && declaration.ServedBy(finding.Dependency) != addonv1alpha1.APIServerHub {
		node.Providers = g.hub.Declared.Providers(finding.Dependency.API.AddonAPI)
	}
	return g.grow(node)
}

func (g *grower) alternatives(finding *evaluation.Finding) (nodes []Node) {
	for end := range finding.Ends() {
		if end != finding {
			node := edge(end, end.Target())
			node.Edge = "" // that of the node above
			nodes = append(nodes, g.end(end, node))
		}
	}
	if len(nodes) > 0 {
		return nodes
	}
	for _, named := range evaluation.Named(finding.Dependency) {
		nodes = append(nodes, g.end(&named, Node{Name: named.Target(), Type: named.Type()}))
	}
	return nodes
}

func isOn(finding *evaluation.Finding, addOn string) bool {
	if finding.Dependency == nil {
		return false
	}
	return slices.ContainsFunc(evaluation.Named(finding.Dependency), func(named evaluation.Finding) bool { return named.Target() == addOn })
}

func (g *grower) dependents(addOn string) (nodes []Node) {
	for _, dependent := range g.hub.Declared.Dependents(addOn) {
		if !g.hub.IsOn(g.cluster, dependent) {
			continue
		}
		for _, finding := range g.findings(dependent) {
			if isOn(&finding, addOn) {
				nodes = append(nodes, g.grow(edge(&finding, dependent)))
			}
		}
	}
	return nodes
}

func edge(finding *evaluation.Finding, name string) Node {
	node := Node{Name: name, Type: finding.Type(), Verdict: finding.Verdict}
	if named := finding.Name(); named != finding.Target() {
		node.Edge = named
	}
	node.Message = finding.HeldBecause()
	if finding.Verdict == evaluation.Waived {
		node.Message = finding.Found()
	}
	if finding.Unsatisfied() || finding.Verdict == evaluation.Tolerated {
		node.Message = finding.Sentence(finding.AuthorMessage())
	}
	return node
}

// shapeOf returns the same text for two trees that differ in times only. Messages have times.
func shapeOf(tree *Tree) string {
	var shape strings.Builder
	fmt.Fprintf(&shape, "%t", tree.Lost)
	tree.writeShape(&shape)
	return shape.String()
}

func (n *Node) writeShape(shape *strings.Builder) {
	fmt.Fprintf(shape, "%q %q %s %s %s %q %t(", n.Name, n.Edge, n.Type, n.Verdict, n.Available, n.Reason, n.Repeated)
	for i := range n.Nodes {
		n.Nodes[i].writeShape(shape)
	}
	shape.WriteString("|")
	for i := range n.Alternatives {
		n.Alternatives[i].writeShape(shape)
	}
	shape.WriteString(")")
}

// sortTrees puts failing trees first, then trees that are not known, then healthy trees. Among equal trees, the tree of most
// clusters is first.
func sortTrees(trees []Tree) {
	rank := func(tree *Tree) int {
		switch {
		case tree.OK():
			return 2
		case tree.Lost, tree.held():
			return 1
		default:
			return 0
		}
	}
	slices.SortStableFunc(trees, func(a, b Tree) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), -cmp.Compare(len(a.Clusters), len(b.Clusters)), cmp.Compare(a.Clusters[0], b.Clusters[0]))
	})
}

// held reports whether nothing new is known of an edge.
func (n *Node) held() bool {
	return n.Verdict == evaluation.Held || slices.ContainsFunc(n.Nodes, func(child Node) bool { return child.held() })
}
