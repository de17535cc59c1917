// Package dependency is the house of the decisions on dependencies. It has no code of its own, but seven rooms. The packages of a room use
// those of the same room and of the rooms before it:
//
//	graph        nodes and edges: order, reachability, cycles
//	declaration  one ClusterManagementAddOn: parsing, validation, ranges, CEL expressions, settings, policies
//	catalog      all declarations together: edges, cycles, problems
//	evaluation   catalog and state of one managed cluster → one Finding for each edge, and its cause
//	condition    findings and stored conditions → conditions, gates, bundles, contradictions
//	plan         changes: installations, removals and their steps, reviews, suggestions
//	resolution   versions that go together, without a hub
//
// All of it is pure: no client, no logger, no clock. The time comes in as a value. The rules are those of OCM's add-on dependency proposal.
package dependency
