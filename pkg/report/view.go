package report

import (
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// clusterView is a managed cluster with the inputs of its root causes.
type clusterView struct {
	name string
	// lost is true if verdicts on the cluster are held because it cannot be reached.
	lost bool
	// detached is true if the cluster is being detached from the hub.
	detached bool
	// object is nil for a namespace with add-ons that has no ManagedCluster.
	object *clusterv1.ManagedCluster
	// addOns are ordered by name.
	addOns []*addonv1alpha1.ManagedClusterAddOn
	// findings returns the findings on the edges of an add-on. It is nil for a lost or detached cluster.
	findings func(addOn string) []evaluation.Finding
}

// viewOf returns a managed cluster of a snapshot.
func viewOf(hub *snapshot.Snapshot, cluster string) clusterView {
	view := clusterView{
		name:     cluster,
		lost:     hub.Lost(cluster),
		detached: isDetached(hub.Object(cluster)),
		object:   hub.Object(cluster),
		addOns:   hub.Installed(cluster),
	}
	if !view.lost && !view.detached {
		view.findings = hub.Evaluated(cluster)
	}
	return view
}

// inParallel is the number of managed clusters that are evaluated before the first of them is visited.
const inParallel = 64

// eachView calls a function with managed clusters of a snapshot, in the order of their names. It evaluates several in parallel, and the
// function is not called in parallel.
func eachView(hub *snapshot.Snapshot, names []string, visit func(clusterView)) {
	for chunk := range slices.Chunk(names, inParallel) {
		views := make([]clusterView, len(chunk))
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		for i, cluster := range chunk {
			group.Go(func() error {
				views[i] = viewOf(hub, cluster)
				return nil
			})
		}
		_ = group.Wait() // the functions have no errors
		for _, view := range views {
			visit(view)
		}
	}
}

// addOn returns an add-on on the cluster. It is nil if there is none.
func (v clusterView) addOn(name string) *addonv1alpha1.ManagedClusterAddOn {
	index := slices.IndexFunc(v.addOns, func(addOn *addonv1alpha1.ManagedClusterAddOn) bool { return addOn.Name == name })
	if index < 0 {
		return nil
	}
	return v.addOns[index]
}

// View is an evaluated managed cluster with its objects.
type View struct {
	*Cluster
	// Object is nil for a namespace with add-ons that has no ManagedCluster.
	Object *clusterv1.ManagedCluster
	// AddOns are the add-ons on the cluster, ordered by name.
	AddOns []*addonv1alpha1.ManagedClusterAddOn
}

// lost reports whether verdicts on the cluster are held because it cannot be reached.
func (v View) lost() bool {
	return v.Object != nil && v.Offline == evaluation.OfflineHold && fleet.ClusterStatus(v.Object) == metav1.ConditionUnknown
}

// find searches the root causes on the cluster.
func (v View) find() *finder {
	f := newFinder(v.Now)
	f.addCluster(clusterView{
		name:     v.Name,
		lost:     v.lost(),
		detached: isDetached(v.Object),
		object:   v.Object,
		addOns:   v.AddOns,
		findings: func(addOn string) []evaluation.Finding { return v.findings[addOn] },
	}, Filter{})
	return f
}

// causes returns the root causes on the cluster, without repairs.
func (v View) causes() *RootCauses {
	return v.find().finish(func(*RootCause) *Repair { return nil })
}

// Explain returns the explanation of a cause on the cluster. The bool is false if no add-on there fails because of it.
func (v View) Explain(root cause.Cause) (Explanation, bool) {
	example, ok := v.find().examples[root]
	if !ok {
		return Explanation{}, false
	}
	return example.explanation(), true
}

// Explanation is the explanation of a cause by one of its victims.
type Explanation struct {
	// Message is the message of addon-manager on the edge. Stored is true if it is the stored message of Degraded.
	Message string
	Stored  bool
	// Stopped is true if Interlock does not install the add-on although the edge requests it.
	Stopped bool
	// Providers are registered add-ons that provide an API that is not served.
	Providers []string
}

// explanation returns the explanation by an example.
func (e example) explanation() Explanation {
	explanation := Explanation{Message: message(e.finding), Stopped: e.finding.Stopped()}
	if e.stored != "" {
		explanation.Message, explanation.Stored = e.stored, true
	}
	if e.finding.Detail != nil {
		explanation.Providers = e.finding.Detail.Providers
	}
	return explanation
}
