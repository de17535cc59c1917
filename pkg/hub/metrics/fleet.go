package metrics

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/condition/outcome"
	"open-cluster-management.io/interlock/pkg/dependency/condition/protection"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// series identifies one series about the fleet: the name of its metric, and its labels.
type series struct {
	name   string
	labels [4]string
}

// fleetLabels are the labels of the metrics about the fleet.
var fleetLabels = map[string][]string{
	NameEdges:       {labelAddOn, "dependency", "type"},
	NameUnsatisfied: {labelAddOn, "dependency", "type", "verdict"},
	NameHeld:        {labelAddOn, "dependency", "type", "verdict"},
	NameWaived:      {labelAddOn, "dependency", "type"},
	NameRequiring:   {labelAddOn},
	NameRoots:       {labelAddOn, "verdict"},
	NameVictims:     {labelAddOn},
	NameBlockers:    {labelAddOn, "platform"},
}

// fleet counts managed clusters by edge and by root cause.
//
// It stores the last verdicts and the sums of all clusters, but no counts of single clusters.
// The first change of a cluster after a scrape subtracts its counts from the sums. The next
// scrape adds them again. So the cost of a storm depends only on the number of scrapes.
type fleet struct {
	descriptions map[string]*prometheus.Desc

	mutex    sync.Mutex
	clusters map[string]*cluster
	// pending has the clusters that have changed since the last scrape. The sums lack their counts.
	pending map[string]*cluster
	sums    map[series]int
	// edges has the shared lists of edges of each add-on.
	edges map[string][]*edges
}

// cluster has the verdicts on the edges of the add-ons on a managed cluster.
type cluster struct {
	lost   bool
	addOns []verdicts // by name
}

func newFleet() *fleet {
	f := &fleet{
		descriptions: map[string]*prometheus.Desc{},
		clusters:     map[string]*cluster{},
		pending:      map[string]*cluster{},
		sums:         map[series]int{},
		edges:        map[string][]*edges{},
	}
	for name, labels := range fleetLabels {
		f.descriptions[name] = prometheus.NewDesc(name, Help[name], labels, nil)
	}
	return f
}

// Describe implements prometheus.Collector.
func (f *fleet) Describe(descriptions chan<- *prometheus.Desc) {
	for _, description := range f.descriptions {
		descriptions <- description
	}
}

// Collect implements prometheus.Collector.
func (f *fleet) Collect(output chan<- prometheus.Metric) {
	for s, sum := range f.current() {
		labels := s.labels[:len(fleetLabels[s.name])]
		output <- prometheus.MustNewConstMetric(f.descriptions[s.name], prometheus.GaugeValue, float64(sum), labels...)
	}
}

// current returns the sums, of all clusters.
func (f *fleet) current() map[series]int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, pending := range f.pending {
		f.add(pending, 1)
	}
	clear(f.pending)
	return maps.Clone(f.sums)
}

// add adds the counts of the cluster to the sums, or subtracts them if sign is -1.
func (f *fleet) add(c *cluster, sign int) {
	c.contribute(func(s series, count int) {
		if f.sums[s] += sign * count; f.sums[s] == 0 {
			delete(f.sums, s)
		}
	})
}

// beginChange returns the cluster for a change. It removes the counts of the cluster from the sums until the next scrape.
func (f *fleet) beginChange(name string) *cluster {
	c := f.clusters[name]
	if c == nil {
		c = &cluster{}
		f.clusters[name] = c
	} else if f.pending[name] == nil {
		f.add(c, -1)
	}
	f.pending[name] = c
	return c
}

// dropEmpty drops a cluster without add-ons that is not lost.
func (f *fleet) dropEmpty(name string) {
	if c := f.clusters[name]; !c.lost && len(c.addOns) == 0 {
		delete(f.clusters, name)
		delete(f.pending, name)
	}
}

// set replaces the verdicts on the edges of an add-on. Without findings, it removes the add-on.
func (f *fleet) set(key types.NamespacedName, findings []evaluation.Finding) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	var previous verdicts
	if c := f.clusters[key.Namespace]; c != nil {
		if i, ok := c.find(key.Name); ok {
			previous = c.addOns[i]
		}
	}
	current := verdictsOf(key.Name, findings, previous, f.edges)
	if current == previous {
		return
	}
	c := f.beginChange(key.Namespace)
	switch i, ok := c.find(key.Name); {
	case ok && current.edges == nil:
		c.addOns = slices.Delete(c.addOns, i, i+1)
	case ok:
		c.addOns[i] = current
	default:
		c.addOns = slices.Insert(c.addOns, i, current)
	}
	f.dropEmpty(key.Namespace)
}

// block replaces the platforms whose upgrade would break an add-on. It ignores an add-on without edges.
func (f *fleet) block(key types.NamespacedName, blockers protection.Blockers) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	c := f.clusters[key.Namespace]
	if c == nil {
		return
	}
	if i, ok := c.find(key.Name); ok && c.addOns[i].blockers != blockers {
		f.beginChange(key.Namespace).addOns[i].blockers = blockers
	}
}

// forgetEdges drops the shared edges of an add-on that is no longer registered.
func (f *fleet) forgetEdges(addOn string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	delete(f.edges, addOn)
}

func (c *cluster) find(addOn string) (int, bool) {
	return slices.BinarySearchFunc(c.addOns, addOn, func(v verdicts, name string) int { return strings.Compare(v.addOn, name) })
}

// SetLost records whether a managed cluster is lost. All verdicts on a lost cluster are held.
func (m *Metrics) SetLost(name string, lost bool) {
	f := m.fleet
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if c := f.clusters[name]; lost == (c != nil && c.lost) {
		return
	}
	f.beginChange(name).lost = lost
	f.dropEmpty(name)
}

func (f *fleet) isLost(name string) bool {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	c := f.clusters[name]
	return c != nil && c.lost
}

// Assessed replaces the assessment of an add-on on a cluster. It is nil if the add-on was deleted. Held edges keep their last verdict.
func (m *Metrics) Assessed(addOn types.NamespacedName, assessment *outcome.Assessment) {
	if assessment == nil {
		m.fleet.set(addOn, nil)
		return
	}
	m.fleet.set(addOn, assessment.Findings)
	m.fleet.block(addOn, assessment.Blockers)
}
