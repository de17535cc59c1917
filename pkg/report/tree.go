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

// Trees are the dependencies or dependents of an add-on on the managed clusters where it is installed. Clusters with equal trees share
// a tree.
type Trees struct {
	metav1.TypeMeta `json:",inline"`
	// Taken is when the hub was read.
	Taken time.Time `json:"taken"`
	AddOn string    `json:"addOn"`
	// Direction is Dependencies or Dependents.
	Direction Direction `json:"direction"`
	Items     []Tree    `json:"items"`
}

// Direction is the direction of the edges of a tree.
type Direction string

// The directions.
const (
	Dependencies Direction = "Dependencies"
	Dependents   Direction = "Dependents"
)

// Tree is an add-on with its dependencies or dependents.
type Tree struct {
	// Clusters are the clusters with this tree, ascending.
	Clusters []string `json:"clusters"`
	// Lost is whether the clusters cannot be reached. Their state is not current.
	Lost bool `json:"lost,omitempty"`
	Node `json:",inline"`
}

// Node is an add-on, an API or a requirement in a tree.
type Node struct {
	// Name is the name of the add-on, of the API, or of the requirement.
	Name string `json:"name"`
	// Edge is the name of the edge in the declaration. It is empty if it equals Name.
	Edge string `json:"edge,omitempty"`
	// Providers are registered add-ons that provide the API.
	Providers []string `json:"providers,omitempty"`
	// Type and Verdict belong to the edge that leads to the node. The root has no edge. Its verdict is NotInstalled or empty.
	Type    addonv1alpha1.DependencyType `json:"type,omitempty"`
	Verdict evaluation.Verdict           `json:"verdict,omitempty"`
	// Message describes an edge that is not satisfied, or why it is held.
	Message string `json:"message,omitempty"`
	// Available and Reason are the status and the reason of the add-on's Available. They are empty without the condition.
	Available metav1.ConditionStatus `json:"available,omitempty"`
	Reason    string                 `json:"reason,omitempty"`
	// Since is the time at which Available changed last. In a tree of several clusters, Since and Message are from the first cluster.
	Since time.Time `json:"since,omitzero"`
	// Bundle is whether the add-on has no agent, and is available if all of its dependencies are satisfied.
	Bundle bool `json:"bundle,omitempty"`
	// Gate is closed if the add-on is not installed yet, because it waits for its dependencies. Otherwise it is empty.
	Gate string `json:"gate,omitempty"`
	// Deletion is nil unless the add-on is being removed. In a tree of several clusters, it is from the first cluster.
	Deletion *Deletion `json:"deletion,omitempty"`
	// Undeclared is whether the dependencies of the add-on are not known: its declaration cannot be used, or depends on an AddOnTemplate that
	// is not known.
	Undeclared bool `json:"undeclared,omitempty"`
	// Repeated is whether the nodes below are shown elsewhere in the tree.
	Repeated bool   `json:"repeated,omitempty"`
	Nodes    []Node `json:"nodes,omitempty"`
	// Alternatives are the targets of an edge that has several. A single satisfied alternative is enough. They have verdicts only if none
	// is satisfied.
	Alternatives []Node `json:"alternatives,omitempty"`
}

// OK reports whether the clusters can be reached, every add-on of the tree works, and every edge is satisfied.
func (t *Tree) OK() bool { return !t.Lost && t.Node.OK() }

// OK reports whether every add-on of a tree works and stays, and every edge is satisfied.
func (n *Node) OK() bool {
	if n.Available != metav1.ConditionTrue && n.Verdict == "" || n.Undeclared || n.Deletion != nil {
		return false
	}
	if n.Verdict != "" && n.Verdict != evaluation.Satisfied && n.Verdict != evaluation.NotApplicable {
		return false
	}
	return !slices.ContainsFunc(n.Nodes, func(node Node) bool { return !node.OK() })
}

// FindTrees returns the trees of an add-on. Without grouping, each cluster has a tree of its own.
func FindTrees(hub *snapshot.Snapshot, addOn, cluster string, direction Direction, grouping bool) *Trees {
	trees := &Trees{
		TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "DependencyTrees"},
		Taken:    hub.Taken, AddOn: addOn, Direction: direction, Items: []Tree{},
	}
	groups := map[string]int{}
	for _, name := range hub.Names() {
		if cluster != "" && cluster != name || !hasTree(hub, name, addOn, direction) {
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

// hasTree reports whether an add-on has a tree on a managed cluster. It has if it is installed, or if an installed add-on depends on
// it.
func hasTree(hub *snapshot.Snapshot, cluster, addOn string, direction Direction) bool {
	return hub.IsOn(cluster, addOn) || direction == Dependents &&
		slices.ContainsFunc(hub.Declared.Dependents(addOn), func(dependent string) bool { return hub.IsOn(cluster, dependent) })
}

// grower builds the tree of a cluster.
type grower struct {
	hub       *snapshot.Snapshot
	cluster   string
	findings  func(addOn string) []evaluation.Finding
	direction Direction
	// grown has the add-ons that are in the tree already. The value is whether they have nodes.
	grown map[string]bool
}

// grow adds the nodes below an add-on.
func (g *grower) grow(node Node) Node {
	addOn := g.hub.AddOnOn(types.NamespacedName{Namespace: g.cluster, Name: node.Name})
	if addOn == nil && g.direction == Dependencies {
		return node
	}
	if addOn == nil {
		node.Nodes = g.dependents(node.Name) // Only the root can be missing: dependents are installed.
		return node
	}
	if available := fleet.Available(addOn); available != nil {
		node.Available, node.Reason, node.Since = available.Status, available.Reason, available.LastTransitionTime.UTC()
	}
	node.Deletion = DeletionOf(addOn)
	node.Bundle = g.hub.Declared.Install(node.Name).Bundle
	if fleet.GateClosed(addOn) {
		node.Gate = addonv1alpha1.GateClosed
	}
	if hasNodes, grown := g.grown[node.Name]; grown {
		node.Repeated = hasNodes
		return node
	}
	g.grown[node.Name] = true // The nodes below may lead back to it.
	if g.direction == Dependents {
		node.Nodes = g.dependents(node.Name)
	} else {
		findings := g.findings(node.Name)
		node.Undeclared = slices.ContainsFunc(findings, hasNoEdge)
		node.Nodes = g.dependencies(slices.DeleteFunc(slices.Clone(findings), hasNoEdge))
	}
	g.grown[node.Name] = len(node.Nodes) > 0
	return node
}

// hasNoEdge reports whether a finding is about the whole declaration of an add-on, which is not known.
func hasNoEdge(finding evaluation.Finding) bool {
	return finding.Dependency == nil && finding.Requirement == nil
}

func (g *grower) dependencies(findings []evaluation.Finding) []Node {
	var nodes []Node
	for _, finding := range findings {
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

func (g *grower) alternatives(finding *evaluation.Finding) []Node {
	var nodes []Node
	for end := range finding.Ends() {
		if end != finding {
			node := edge(end, end.Target())
			node.Edge = "" // The node above has it.
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

func (g *grower) dependents(addOn string) []Node {
	var nodes []Node
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
		node.Message = finding.Reason()
	}
	if finding.Unsatisfied() || finding.Verdict == evaluation.Tolerated {
		node.Message = finding.Sentence(finding.AuthorMessage())
	}
	return node
}

// shapeOf returns the same text for two trees that differ in times and messages only. Messages contain times.
func shapeOf(tree *Tree) string {
	var shape strings.Builder
	fmt.Fprintf(&shape, "%t", tree.Lost)
	tree.writeShape(&shape)
	return shape.String()
}

func (n *Node) writeShape(shape *strings.Builder) {
	fmt.Fprintf(shape, "%q %q %s %s %s %q %s %t %t %t(",
		n.Name, n.Edge, n.Type, n.Verdict, n.Available, n.Reason, n.Gate, n.Deletion != nil, n.Undeclared, n.Repeated)
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

// held reports whether the verdict on an edge of the tree is held, or its edges are not known.
func (n *Node) held() bool {
	return n.Verdict == evaluation.Held || n.Undeclared || slices.ContainsFunc(n.Nodes, func(child Node) bool { return child.held() })
}
