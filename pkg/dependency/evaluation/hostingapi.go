package evaluation

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/text"
)

// hostingAPIRule is that of an edge on an API of the managed cluster that runs the add-on's agent.
var hostingAPIRule = rule{inputs: input.Facts | input.Hosting, sentence: apiSentence, found: apiFound}

const (
	hostNotReported = "the hosting cluster's addon-agent has not reported it"

	noSuchHost = "not known: the hub has no managed cluster of that name, which the annotation " +
		"addon.open-cluster-management.io/hosting-cluster-name of the ManagedClusterAddOn has"
)

// HostingCluster is what the hub knows of another managed cluster, which runs agents of add-ons.
type HostingCluster struct {
	// Missing: the hub has no such managed cluster.
	Missing bool `json:"missing,omitempty"`
	// Available, Back and Returned are as in Cluster.
	Available metav1.ConditionStatus `json:"available,omitempty"`
	Back      time.Time              `json:"back,omitzero"`
	Returned  time.Time              `json:"returned,omitzero"`
	// Facts is what the agent of that cluster has reported.
	Facts Facts `json:"facts,omitzero"`
}

// evaluateHostingAPI looks up what the agent of the hosting cluster reports of the API. Without hosted mode, that
// is the managed cluster itself.
func evaluateHostingAPI(g *given, f *Finding) {
	name := g.state.AddOns.Named(g.addOn).HostingCluster
	if name == "" {
		evaluateAPI(g, f)
		return
	}
	host, read := g.cluster.Hosts[name]
	on := Cluster{
		Available: host.Available, Back: host.Back, Returned: host.Returned,
		Facts: host.Facts, Now: g.cluster.Now, Offline: g.cluster.Offline,
	}
	switch {
	case !read:
		f.Verdict = Held
		f.detail().Because = fmt.Sprintf("what hosting cluster '%s' serves has not been read yet", text.Name(name))
	case host.Missing:
		f.Verdict = APINotServed
		f.detail().Because, f.Detail.Unreported, f.Detail.HostingCluster = noSuchHost, true, name
	case on.Lost():
		f.Verdict = Held
		f.detail().Because = fmt.Sprintf("hosting cluster '%s' cannot be reached", text.Name(name))
	default:
		if evaluateReported(g, f, &on, hostNotReported); f.Verdict == APINotServed {
			f.detail().HostingCluster = name
		}
	}
}
