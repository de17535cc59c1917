package main

import (
	"context"
	"errors"
)

// step is an event, and the expected state after it.
type step struct {
	title string
	// story describes the event in plain words, and why it matters.
	story string
	run   func(context.Context, *world) error
	// clock describes the start of the measured times: the moment before run, or the change that trigger matches. The
	// demo has to wait for such a change.
	clock   string
	trigger func(change) bool
	wait    string
	// expect is the expected state. All other add-ons of the fleet must not be written at all.
	expect []expectation
	// show limits the rows to some add-ons. Times are then not shown.
	show []string
	// success describes the result, if the shown rows do not show all of it.
	success string
	// unchanged is true if nothing may change. The attempts are shown instead of times.
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
		run:    func(context.Context, *world) error { return nil },
		expect: everywhere(available, installedFirst),
		show:   []string{policies, templating},
	},
	{
		title: "A prerequisite is missing",
		story: "An administrator installs cluster-gateway and multicluster-kueue-manager on cluster1. Both require managed-serviceaccount, " +
			"which is not there; cluster-gateway would also like cluster-proxy. Their own agents run and renew their leases, and yet they cannot work.",
		run:   onCluster1((*world).install, gateway, kueue),
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
		run: insist,
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
		run:   onCluster1((*world).install, serviceAccount),
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
		run:    onCluster1((*world).install, proxy),
		clock:  "the request to install cluster-proxy",
		expect: []expectation{available(cluster1, proxy), available(cluster1, gateway)},
	},
	{
		title: "The prerequisite's agent dies",
		story: "The agent of managed-serviceaccount on cluster1 ends. Its lease is renewed no more; once that is older than the grace " +
			"period, managed-serviceaccount is not available, nor are the add-ons that require it.",
		run:     onCluster1(die, serviceAccount),
		clock:   "the lease was too old, and managed-serviceaccount Available=False",
		trigger: becomes(serviceAccount, "Available", conditionFalse),
		wait:    "Waiting until the lease is older than the grace period",
		expect: []expectation{
			dead(cluster1, serviceAccount),
			blocked(cluster1, gateway, credentials+"Available=False, "+leaseStopped),
			blocked(cluster1, kueue, dispatch+"Available=False, "+leaseStopped),
		},
	},
	{
		title: "It comes back",
		story: "The agent of managed-serviceaccount starts again and renews its lease.",
		run:   onCluster1(revive, serviceAccount),
		clock: "the start of its agent",
		expect: []expectation{
			available(cluster1, serviceAccount), available(cluster1, gateway), available(cluster1, kueue),
		},
	},
	{
		title: "The prerequisite is deleted",
		story: "An administrator removes managed-serviceaccount from cluster1.",
		run:   onCluster1((*world).uninstall, serviceAccount),
		clock: "the request to delete managed-serviceaccount",
		expect: []expectation{
			uninstalled(cluster1, serviceAccount),
			blocked(cluster1, gateway, credentials+notInstalled),
			blocked(cluster1, kueue, dispatch+notInstalled),
		},
	},
	{
		title: "It is installed again",
		story: "managed-serviceaccount returns to cluster1.",
		run:   onCluster1((*world).install, serviceAccount),
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
		run:   onCluster1((*world).uninstall, governance),
		clock: "the request to delete governance-policy-framework",
		expect: []expectation{
			uninstalled(cluster1, governance),
			blocked(cluster1, policies, noPolicies, notInstalled),
			blocked(cluster1, templating, noTemplates, "a Required dependency of its own is not satisfied"),
			reduced(cluster1, scoring, lessScores, notInstalled),
		},
	},
	{
		title: "The chain heals",
		story: "governance-policy-framework is installed again, and everything recovers from there, link by link. " +
			"The two-way pair gets going again: config-policy-controller becomes available without its Optional partner, and so the partner does.",
		run:   onCluster1((*world).install, governance),
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
		run: func(ctx context.Context, w *world) error {
			return errors.Join(
				w.declare(ctx, search, required(workManager, "Clusters are not known by name.")),
				w.declare(ctx, workManager, required(search, "Nothing is found.")))
		},
		clock: "the request to declare the first edge, then the second",
		expect: append(everywhere(withMessage(blocked, cycle), onlyAddOn(search)),
			everywhere(withMessage(blocked, cycle), onlyAddOn(workManager))...),
	},
	{
		title: "The cycle is taken back",
		story: "The two edges are removed again.",
		run: func(ctx context.Context, w *world) error {
			return errors.Join(w.declare(ctx, workManager), w.declare(ctx, search))
		},
		clock:  "the request to remove the first edge, then the second",
		expect: append(everywhere(available, onlyAddOn(search)), everywhere(available, onlyAddOn(workManager))...),
	},
	{
		title: "A stack is installed by one command",
		story: "clickstream is at the top of a stack of five add-ons, of which none is installed. One command installs them all on three " +
			"clusters: first what needs no other one, and each layer once the one below is available.",
		run:     installStack,
		expect:  everywhere(available, stacked),
		show:    []string{clickstream},
		success: "All 15 add-ons of the stack are available.",
	},
	{
		title:   "It is removed as a unit",
		story:   "clickstream is uninstalled, with all that only clickstream needed, in reverse order.",
		run:     removeStack,
		expect:  everywhere(uninstalled, stacked),
		show:    []string{clickstream},
		success: "All 15 add-ons of the stack are gone.",
	},
}

// onCluster1 does the same to several add-ons on cluster1.
func onCluster1(act func(*world, context.Context, string, string) error, addOns ...string) func(context.Context, *world) error {
	return func(ctx context.Context, w *world) error {
		for _, name := range addOns {
			if err := act(w, ctx, cluster1, name); err != nil {
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
	var expectations []expectation
	for _, cluster := range clusters {
		for _, name := range addOns(cluster) {
			expectations = append(expectations, expect(cluster, name))
		}
	}
	return expectations
}

func onlyAddOn(addOn string) func(string) []string {
	return func(string) []string { return []string{addOn} }
}

// withMessage adds parts of the message to an expectation.
func withMessage(
	expect func(cluster, addOn string, messageParts ...string) expectation, messageParts ...string,
) func(string, string) expectation {
	return func(cluster, addOn string) expectation { return expect(cluster, addOn, messageParts...) }
}
