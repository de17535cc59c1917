package evaluation

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/text"
)

// hostingAPIRule is the rule of an edge on an API of the managed cluster that runs the add-on's agent.
var hostingAPIRule = rule{inputs: input.Facts | input.Hosting, sentence: apiSentence, describe: describeAPI}

const (
	hostNotReported = "the hosting cluster's addon-agent has not reported it"

	noSuchHost = "not known: the hub has no managed cluster of that name, which the annotation " +
		"addon.open-cluster-management.io/hosting-cluster-name of the ManagedClusterAddOn has"
)

// HostingCluster is the state of another managed cluster that runs agents of add-ons.
type HostingCluster struct {
	// Missing is true if the hub has no such managed cluster.
	Missing bool `json:"missing,omitempty"`
	// Available, Back and Returned are as in Cluster.
	Available metav1.ConditionStatus `json:"available,omitempty"`
	Back      time.Time              `json:"back,omitzero"`
	Returned  time.Time              `json:"returned,omitzero"`
	// Facts has the reports of the agent of that cluster.
	Facts Facts `json:"facts,omitzero"`
}

// evaluateHostingAPI evaluates the report on the API by the agent of the hosting cluster. Without hosted mode, that is the
// managed cluster itself.
func evaluateHostingAPI(g *grounds, f *Finding) {
	name := g.state.AddOns.Named(g.addOn).HostingCluster
	if name == "" {
		evaluateAPI(g, f)
		return
	}
	host, ok := g.cluster.Hosts[name]
	cluster := Cluster{
		Available: host.Available,
		Back:      host.Back,
		Returned:  host.Returned,
		Facts:     host.Facts,
		Now:       g.cluster.Now,
		Offline:   g.cluster.Offline,
	}
	switch {
	case !ok:
		f.Verdict = Held
		f.detail().Because = fmt.Sprintf("what hosting cluster '%s' serves has not been read yet", text.Name(name))
	case host.Missing:
		f.Verdict = APINotServed
		f.detail().Because, f.Detail.Unreported, f.Detail.HostingCluster = noSuchHost, true, name
	case cluster.Lost():
		f.Verdict = Held
		f.detail().Because = fmt.Sprintf("hosting cluster '%s' cannot be reached", text.Name(name))
	default:
		if evaluateReported(g, f, &cluster, hostNotReported); f.Verdict == APINotServed {
			f.detail().HostingCluster = name
		}
	}
}
