// Package dependency has the decisions on dependencies, in seven folders of packages. A package may import packages of its own folder
// and of the folders above it in this list:
//
//	graph        nodes and edges: order, reachability, cycles
//	declaration  one ClusterManagementAddOn: parsing, validation, ranges, CEL expressions, settings, policies
//	catalog      all declarations together: edges, cycles, problems
//	evaluation   catalog and state of one managed cluster → one Finding for each edge, and its cause
//	condition    findings and stored conditions → conditions, gates, bundles, contradictions
//	plan         changes: installations, removals and their steps, reviews, suggestions
//	resolution   versions that go together, without a hub
//
// None of them has a client, a logger or a clock: times are arguments. They implement the rules of OCM's add-on dependency proposal.
package dependency
