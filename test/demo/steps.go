package main

import (
	"context"
	"errors"
)

// step is one thing that happens, and what is to come of it.
type step struct {
	title string
	// story says in plain words what is done, and why it matters.
	story string
	do    func(context.Context, *world) error
	// clock says from when times are counted: the moment before do, or the
	// change that from matches, for which the demo has to wait.
	clock string
	from  func(change) bool
	wait  string
	// expect is what comes of it. All other add-ons of the fleet must not be
	// written at all.
	expect []expectation
	// show limits the rows to some add-ons; times are then not shown.
	show []string
	// came says what came true, where show does not show it all.
	came string
	// unchanged says that nothing may change; what was tried is shown instead of times.
	unchanged bool
}

const (
	credentials  = "Required addon 'managed-serviceaccount' is not installed or not available. Cluster credentials cannot be issued. ("
	dispatch     = "Required addon 'managed-serviceaccount' is not installed or not available. Jobs cannot be dispatched to this cluster. ("
	unreachable  = "Optional addon 'cluster-proxy' is not installed or not available. Clusters behind a firewall are unreachable. ("
	noPolicies   = "Required addon 'governance-policy-framework' is not installed or not available."
	noTemplates  = "Required addon 'config-policy-controller' is not installed or not available."
	lessScores   = "Optional addon 'governance-policy-framework' is not installed or not available. Scores leave out policy compliance."
	notInstalled = "not installed: "
	cycle        = "dependency cycle: search-collector → work-manager → search-collector"
)

var steps = []step{
	{
		title: "A fleet at work",
		story: "cluster2 and cluster3 have every add-on, cluster1 has some. The two-way pair config-policy-controller and " +
			"governance-standalone-hub-templating works: one of its edges is Optional, so neither waits for the other for ever.",
		do:     func(context.Context, *world) error { return nil },
		expect: everywhere(available, installedFirst),
		show:   []string{policies, templating},
	},
	{
		title: "A prerequisite is missing",
		story: "An administrator installs cluster-gateway and multicluster-kueue-manager on cluster1. Both require managed-serviceaccount, " +
			"which is not there; cluster-gateway would also like cluster-proxy. Their own agents run and renew their leases, and yet they cannot work.",
		do:    onCluster1((*world).install, gateway, kueue),
		clock: "the request to install cluster-gateway, then multicluster-kueue-manager",
		expect: []expectation{
			blocked(cluster1, gateway, credentials+notInstalled, unreachable+notInstalled),
			blocked(cluster1, kueue, dispatch+notInstalled),
		},
	},
	{
		title: "OCM's agent insists",
		story: "The agents of both add-ons run and renew their leases. OCM's own agent on cluster1 reads these leases, ignores " +
			"dependencies, and writes Available=True again and again. The guard on the hub corrects each of these writes.",
		do: insist,
		expect: []expectation{
			blocked(cluster1, gateway, credentials+notInstalled, unreachable+notInstalled),
			blocked(cluster1, kueue, dispatch+notInstalled),
		},
		unchanged: true,
	},
	{
		title: "The prerequisite is installed",
		story: "managed-serviceaccount is installed on cluster1. multicluster-kueue-manager works; cluster-gateway works with less, " +
			"as cluster-proxy is Optional: it is degraded, and available.",
		do:    onCluster1((*world).install, serviceAccount),
		clock: "the request to install managed-serviceaccount, whose agent has yet to start",
		expect: []expectation{
			available(cluster1, serviceAccount),
			reduced(cluster1, gateway, unreachable+notInstalled),
			available(cluster1, kueue),
		},
	},
	{
		title:  "So is the optional one",
		story:  "cluster-proxy is installed on cluster1, and cluster-gateway is no longer degraded.",
		do:     onCluster1((*world).install, proxy),
		clock:  "the request to install cluster-proxy",
		expect: []expectation{available(cluster1, proxy), available(cluster1, gateway)},
	},
	{
		title: "The prerequisite's agent dies",
		story: "The agent of managed-serviceaccount on cluster1 ends. Its lease is renewed no more; once that is older than the grace " +
			"period, managed-serviceaccount is not available, nor are the add-ons that require it.",
		do:    onCluster1(die, serviceAccount),
		clock: "the lease was too old, and managed-serviceaccount Available=False",
		from:  becomes(serviceAccount, "Available", conditionFalse),
		wait:  "Waiting until the lease is older than the grace period",
		expect: []expectation{
			dead(cluster1, serviceAccount),
			blocked(cluster1, gateway, credentials+"Available=False, "+leaseStopped),
			blocked(cluster1, kueue, dispatch+"Available=False, "+leaseStopped),
		},
	},
	{
		title: "It comes back",
		story: "The agent of managed-serviceaccount starts again and renews its lease.",
		do:    onCluster1(revive, serviceAccount),
		clock: "the start of its agent",
		expect: []expectation{
			available(cluster1, serviceAccount), available(cluster1, gateway), available(cluster1, kueue),
		},
	},
	{
		title: "The prerequisite is deleted",
		story: "An administrator removes managed-serviceaccount from cluster1.",
		do:    onCluster1((*world).uninstall, serviceAccount),
		clock: "the request to delete managed-serviceaccount",
		expect: []expectation{
			gone(cluster1, serviceAccount),
			blocked(cluster1, gateway, credentials+notInstalled),
			blocked(cluster1, kueue, dispatch+notInstalled),
		},
	},
	{
		title: "It is installed again",
		story: "managed-serviceaccount returns to cluster1.",
		do:    onCluster1((*world).install, serviceAccount),
		clock: "the request to install managed-serviceaccount",
		expect: []expectation{
			available(cluster1, serviceAccount), available(cluster1, gateway), available(cluster1, kueue),
		},
	},
	{
		title: "The end of a chain breaks",
		story: "governance-standalone-hub-templating requires config-policy-controller, which requires governance-policy-framework. " +
			"The last one is deleted on cluster1: the whole chain cannot work, and each message names what is missing. " +
			"dynamic-scoring-framework wants it too, but can do without.",
		do:    onCluster1((*world).uninstall, governance),
		clock: "the request to delete governance-policy-framework",
		expect: []expectation{
			gone(cluster1, governance),
			blocked(cluster1, policies, noPolicies, notInstalled),
			blocked(cluster1, templating, noTemplates, "a Required dependency of its own is not satisfied"),
			reduced(cluster1, scoring, lessScores, notInstalled),
		},
	},
	{
		title: "The chain heals",
		story: "governance-policy-framework is installed again, and everything recovers from there, link by link. " +
			"The two-way pair gets going again: config-policy-controller becomes available without its Optional partner, and so the partner does.",
		do:    onCluster1((*world).install, governance),
		clock: "the request to install governance-policy-framework",
		expect: []expectation{
			available(cluster1, governance), available(cluster1, policies),
			available(cluster1, templating), available(cluster1, scoring),
		},
	},
	{
		title: "A cycle is declared",
		story: "By mistake, work-manager and search-collector come to require each other, on the hub and so on every cluster. " +
			"Neither could ever work. Both say so, and name the cycle.",
		do: func(ctx context.Context, w *world) error {
			return errors.Join(
				w.declare(ctx, search, required(workManager, "Clusters are not known by name.")),
				w.declare(ctx, workManager, required(search, "Nothing is found.")))
		},
		clock: "the request to declare the first edge, then the second",
		expect: append(everywhere(saying(blocked, cycle), only(search)),
			everywhere(saying(blocked, cycle), only(workManager))...),
	},
	{
		title: "The cycle is taken back",
		story: "The two edges are removed again.",
		do: func(ctx context.Context, w *world) error {
			return errors.Join(w.declare(ctx, workManager), w.declare(ctx, search))
		},
		clock:  "the request to remove the first edge, then the second",
		expect: append(everywhere(available, only(search)), everywhere(available, only(workManager))...),
	},
	{
		title: "A stack is installed by one command",
		story: "clickstream is at the top of a stack of five add-ons, of which none is installed. One command installs them all on three " +
			"clusters: first what needs no other one, and each layer once the one below is available.",
		do:     installStack,
		expect: everywhere(available, stacked),
		show:   []string{clickstream},
		came:   "All 15 add-ons of the stack are available.",
	},
	{
		title:  "It is removed as a unit",
		story:  "clickstream is uninstalled, with all that only clickstream needed, in reverse order.",
		do:     removeStack,
		expect: everywhere(gone, stacked),
		show:   []string{clickstream},
		came:   "All 15 add-ons of the stack are gone.",
	},
}

// onCluster1 does the same to some add-ons there.
func onCluster1(do func(*world, context.Context, string, string) error, addOns ...string) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		for _, name := range addOns {
			if err := do(w, ctx, cluster1, name); err != nil {
				return err
			}
		}
		return nil
	}
}

// die ends an add-on's agent, and revive starts it again.
var (
	die    = func(w *world, _ context.Context, cluster, name string) error { return w.stopStandIn(cluster, name) }
	revive = func(w *world, _ context.Context, cluster, name string) error { return w.startStandIn(cluster, name) }
)

// becomes matches a change of a condition on cluster1.
func becomes(addOn, condition, status string) func(change) bool {
	return func(c change) bool {
		return c.addOn == key(cluster1, addOn) && c.condition == condition && c.status == status
	}
}

// everywhere expects the same of add-ons on every cluster.
func everywhere(expect func(cluster, addOn string) expectation, addOns func(cluster string) []string) []expectation {
	var all []expectation
	for _, cluster := range clusters {
		for _, name := range addOns(cluster) {
			all = append(all, expect(cluster, name))
		}
	}
	return all
}

func only(addOn string) func(string) []string {
	return func(string) []string { return []string{addOn} }
}

// saying gives an expectation the words that it is to look for.
func saying(expect func(cluster, addOn string, says ...string) expectation, says ...string) func(string, string) expectation {
	return func(cluster, addOn string) expectation { return expect(cluster, addOn, says...) }
}
