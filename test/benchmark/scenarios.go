package main

import (
	"context"
	"fmt"
	"strings"

	"open-cluster-management.io/interlock/test/benchmark/result"
)

// scenario is a measurement. To add one, write its function in its own file and a line here.
type scenario struct {
	// id is its name in --scenarios and in the tables.
	id    string
	title string
	// method describes the steps and the comparison.
	method string
	stage  stage
	run    func(context.Context, *session, *result.Scenario) error
	// single is true if the scenario is not repeated, because one repetition takes minutes, and its figures are far
	// from their bounds.
	single bool
}

// stage is the state in which a scenario begins. Stages follow each other in this order.
type stage int

const (
	// alone needs nothing, or starts everything itself.
	alone stage = iota
	// growing has a hub on which add-ons are registered. There are no clusters and no addon-manager: the scenario
	// makes the fleet grow to its full size.
	growing
	// hubOnly has the whole fleet, a trivial client, an observer, and an addon-manager that is idle. All add-ons are
	// available at the beginning and at the end.
	hubOnly
	// withAgents has an agent on each cluster, too.
	withAgents
)

var scenarios = []scenario{
	{"10", "Pure evaluation", evaluationMethod, alone, pureEvaluation, false},
	{"11", "addon-agent: memory and reaction to leases", agentMethod, alone, agentProcess, false},
	{"4", "Memory", memoryMethod, growing, memory, false},
	{"5", "Start until all is evaluated", startUpMethod, growing, startUp, false},
	{"3", "One dependency flips on one cluster", flipMethod, hubOnly, flip, false},
	{"1", "A dependency fails on all clusters at once, and recovers", outageMethod, hubOnly, outage, false},
	{"2", "A Required edge is added, then removed", edgeMethod, hubOnly, edge, false},
	{"7", "200 irrelevant updates per second", irrelevantMethod, hubOnly, irrelevant, false},
	{"8", "All clusters are lost, and return", lostMethod, hubOnly, lost, false},
	{"12", "A storm with 10 % faulty responses", faultsMethod, hubOnly, faulty, false},
	{"13", "kubectl addon: time and memory of each verb", pluginMethod, hubOnly, plugin, false},
	{"14", "A storm with reports", reportsMethod, hubOnly, reports, true},
	{"15", "A policy overrides an edge on all clusters, and is deleted", policyMethod, hubOnly, policy, false},
	{"16", "Protection: reviews of deletions", removalsMethod, hubOnly, removals, false},
	{"17", "10,000 AddOnInstallations", installationsMethod, hubOnly, installations, true},
	{"18", "kubectl addon why from the report on the fleet", fleetReportMethod, hubOnly, fleetReport, false},
	{"19", "kubectl addon ui: the first view, and changes", pageMethod, hubOnly, page, false},
	{"1a", "The same as 1, with agents", outageMethod, withAgents, outage, false},
	{"2a", "The same as 2, with agents", edgeMethod, withAgents, edge, false},
	{"6", "Restart, leader change, interruption: no writes", quietMethod, withAgents, quiet, false},
	{"9", "A chain of 6 add-ons breaks at its root, and recovers", chainMethod, withAgents, chain, false},
}

func listScenarios() string {
	var text strings.Builder
	text.WriteString("Scenarios, in the order in which they are played:\n")
	for _, s := range scenarios {
		fmt.Fprintf(&text, "  %-4s%s\n", s.id, s.title)
	}
	return text.String()
}
