package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unique"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
)

// edgeKey identifies an edge of an add-on, and waitKey a wait of an add-on.
type (
	edgeKey struct {
		Name string                       `json:"n,omitempty"`
		Type addonv1alpha1.DependencyType `json:"t,omitempty"`
	}
	waitKey struct {
		Kind     dependencyv1alpha1.WaitKind `json:"k"`
		Template string                      `json:"t,omitempty"`
		Version  string                      `json:"v,omitempty"`
	}
)

// Tally counts the states of all managed clusters.
type Tally struct {
	reach    Reach
	detached int
	addOns   int
	// clusters are the names of the clusters, ascending. Other fields refer to them by index.
	clusters []string
	causes   map[cause.Cause]*talliedCause
	// ranking are the causes. The cause that breaks most add-ons comes first.
	ranking     []*talliedCause
	edges       map[ownedEdge]map[evaluation.Verdict]int
	waits       map[ownedWait]*talliedWait
	unexplained map[dependencyv1alpha1.UnexplainedState]*talliedState
	// installed are the clusters of each add-on that can be reached, ascending.
	installed map[string][]int
}

// ownedEdge is an edge of an add-on, and ownedWait a wait of an add-on.
type (
	ownedEdge struct {
		addOn string
		edgeKey
	}
	ownedWait struct {
		addOn string
		waitKey
	}
)

// talliedCause is a cause with the numbers of its victims.
type talliedCause struct {
	cause.Cause

	title   string
	victims int
	addOns  map[string]int
	unset   bool
	// began and effects are as in RootCause.
	began, effects cause.Onset
	// affected are the affected clusters, ascending.
	affected []affectedCluster
	// examples are the names of some clusters. The message is from the first cluster.
	examples []string
}

// affectedCluster is a cluster with a victim. explains is higher if the message on the edge there explains more. unavailable is when the
// dependency became unavailable there, and degraded when the first victim became Degraded, in seconds.
type affectedCluster struct {
	cluster, explains     int
	unavailable, degraded int64
}

// talliedWait is a wait with its clusters.
type talliedWait struct {
	clusters     []string
	since        int64
	dependencies map[string]int
}

// talliedState is the number of unexplained add-ons, with the first of them.
type talliedState struct {
	count          int
	addOn, cluster string
}

// Count counts the states of managed clusters.
func Count(states []ClusterState) (*Tally, error) {
	t := &Tally{
		causes:      map[cause.Cause]*talliedCause{},
		edges:       map[ownedEdge]map[evaluation.Verdict]int{},
		waits:       map[ownedWait]*talliedWait{},
		unexplained: map[dependencyv1alpha1.UnexplainedState]*talliedState{},
		installed:   map[string][]int{},
	}
	ordered := slices.SortedFunc(slices.Values(states), func(a, b ClusterState) int { return cmp.Compare(a.name, b.name) })
	decode := stateDecoder()
	for index := range ordered {
		cluster := &ordered[index]
		t.clusters = append(t.clusters, cluster.name)
		if cluster.detached {
			t.detached++
		} else {
			t.reach.add(cluster.lost)
		}
		addOns, unavailable, err := decode(cluster)
		if err != nil {
			return nil, err
		}
		for i, state := range addOns {
			t.add(index, !cluster.lost && !cluster.detached, cluster.addOns[i], state)
			for j := range state.Fails {
				t.addCause(index, cluster.addOns[i].since, unavailable[state.Fails[j].Cause.AddOn], state.AddOn, &state.Fails[j])
			}
		}
	}
	t.rank()
	return t, nil
}

// stateDecoder returns a function that returns the states of the add-ons on a managed cluster, and the times at which those that are not
// available became unavailable, by name. It decodes equal states once.
func stateDecoder() func(cluster *ClusterState) ([]*addOnState, map[string]int64, error) {
	decoded := map[unique.Handle[string]]*addOnState{}
	return func(cluster *ClusterState) ([]*addOnState, map[string]int64, error) {
		states, unavailable := make([]*addOnState, 0, len(cluster.addOns)), map[string]int64{}
		for _, timed := range cluster.addOns {
			state := decoded[timed.state]
			if state == nil {
				state = &addOnState{}
				if err := json.Unmarshal([]byte(timed.state.Value()), state); err != nil {
					return nil, nil, fmt.Errorf("decode the state of an add-on on cluster %s: %w", cluster.name, err)
				}
				decoded[timed.state] = state
			}
			states = append(states, state)
			if timed.unavailable != 0 {
				unavailable[state.AddOn] = timed.unavailable
			}
		}
		return states, unavailable, nil
	}
}

// add counts an add-on on a managed cluster. An add-on on a cluster that does not count only has verdicts and waits.
func (t *Tally) add(cluster int, counts bool, timed timedState, state *addOnState) {
	if counts && !state.Removing {
		t.installed[state.AddOn] = append(t.installed[state.AddOn], cluster)
		if len(state.Edges) > 0 {
			t.addOns++
		}
	}
	for _, edge := range state.Edges {
		key := ownedEdge{state.AddOn, edge.edgeKey}
		if t.edges[key] == nil {
			t.edges[key] = map[evaluation.Verdict]int{}
		}
		t.edges[key][edge.Verdict]++
	}
	for _, unexplained := range state.Unexplained {
		if t.unexplained[unexplained] == nil {
			t.unexplained[unexplained] = &talliedState{addOn: state.AddOn, cluster: t.clusters[cluster]}
		}
		t.unexplained[unexplained].count++
	}
	if state.Wait != nil {
		t.addWait(cluster, timed, state)
	}
}

// addCause counts a victim of a cause. The victim became Degraded, and the dependency unavailable, at these times.
func (t *Tally) addCause(cluster int, degraded, unavailable int64, addOn string, failed *failedState) {
	tallied := t.causes[failed.Cause]
	if tallied == nil {
		tallied = &talliedCause{Cause: failed.Cause, title: failed.Cause.String(), addOns: map[string]int{}}
		t.causes[failed.Cause] = tallied
	}
	tallied.victims++
	tallied.addOns[addOn]++
	tallied.unset = tallied.unset || failed.Unset
	if failed.Cause.Verdict != evaluation.NotAvailable {
		unavailable = 0
	}
	explains := 0
	switch {
	case failed.Stopped:
		explains = 2
	case failed.Stored:
		explains = 1
	}
	if last := len(tallied.affected) - 1; last >= 0 && tallied.affected[last].cluster == cluster {
		tallied.affected[last].explains = max(tallied.affected[last].explains, explains)
		tallied.affected[last].degraded = earlier(tallied.affected[last].degraded, degraded)
		return
	}
	tallied.affected = append(tallied.affected, affectedCluster{cluster: cluster, explains: explains, unavailable: unavailable, degraded: degraded})
}

// addWait counts a wait.
func (t *Tally) addWait(cluster int, timed timedState, state *addOnState) {
	key := ownedWait{state.AddOn, state.Wait.waitKey}
	tallied := t.waits[key]
	if tallied == nil {
		tallied = &talliedWait{dependencies: map[string]int{}}
		t.waits[key] = tallied
	}
	tallied.clusters = append(tallied.clusters, t.clusters[cluster])
	if timed.waits != 0 && (tallied.since == 0 || timed.waits < tallied.since) {
		tallied.since = timed.waits
	}
	for _, dependency := range state.Wait.Dependencies {
		tallied.dependencies[dependency]++
	}
}

// rank orders the causes like cause.Ranking, and chooses the examples of those that the report has.
func (t *Tally) rank() {
	t.ranking = slices.SortedFunc(maps.Values(t.causes), func(a, b *talliedCause) int {
		return cmp.Or(-cmp.Compare(len(a.affected), len(b.affected)), -cmp.Compare(a.victims, b.victims), strings.Compare(a.title, b.title),
			strings.Compare(fmt.Sprintf("%#v", a.Cause), fmt.Sprintf("%#v", b.Cause)))
	})
	chosen := map[string]bool{}
	for _, tallied := range t.ranking[:min(len(t.ranking), dependencyv1alpha1.MaxFleetCauses)] {
		tallied.findOnsets(t.clusters)
		tallied.chooseExamples(t.clusters, chosen)
	}
}

// chooseExamples chooses clusters whose message explains most. Then it prefers clusters that are examples of other causes, because the
// plugin reads all examples, and the cluster on which the failure began first.
func (c *talliedCause) chooseExamples(clusters []string, chosen map[string]bool) {
	first := cmp.Or(c.began.Cluster, c.effects.Cluster)
	rank := func(candidate affectedCluster) int {
		rank := 4 * candidate.explains
		if chosen[clusters[candidate.cluster]] {
			rank += 2
		}
		if clusters[candidate.cluster] == first {
			rank++
		}
		return rank
	}
	best := slices.SortedStableFunc(slices.Values(c.affected), func(a, b affectedCluster) int { return -cmp.Compare(rank(a), rank(b)) })
	for _, candidate := range best[:min(len(best), dependencyv1alpha1.MaxFleetExamples)] {
		name := clusters[candidate.cluster]
		c.examples = append(c.examples, name)
		chosen[name] = true
	}
}

// Example is a cause with a managed cluster where it breaks add-ons.
type Example struct {
	Cause   cause.Cause
	Cluster string
}

// Examples returns an example of each cause that the report has. Their explanations are inputs of the report.
func (t *Tally) Examples() []Example {
	var examples []Example
	for _, tallied := range t.ranking {
		if len(tallied.examples) > 0 {
			examples = append(examples, Example{tallied.Cause, tallied.examples[0]})
		}
	}
	return examples
}

// UnexplainedExample is an add-on on a managed cluster with a state of unexplained add-ons.
type UnexplainedExample struct {
	State          dependencyv1alpha1.UnexplainedState
	AddOn, Cluster string
}

// UnexplainedExamples returns an example of each state. Their reasons are inputs of the report.
func (t *Tally) UnexplainedExamples() []UnexplainedExample {
	var examples []UnexplainedExample
	for _, list := range (&RootCauses{}).unexplained() {
		if tallied := t.unexplained[list.state]; tallied != nil {
			examples = append(examples, UnexplainedExample{list.state, tallied.addOn, tallied.cluster})
		}
	}
	return examples
}
