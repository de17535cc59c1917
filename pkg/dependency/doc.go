// Package dependency is the house of the decisions on dependencies. It has no
// code of its own; each floor is a package that may use those before it:
//
//	graph, input, versions   names and edges; what verdicts depend on; ranges
//	expression               CEL expressions of conditional edges
//	declaration              what one ClusterManagementAddOn declares
//	catalog                  what all of them declare: edges, cycles, problems
//	evaluation               catalog + state of one cluster → one Finding per edge
//	condition                findings + stored condition → the Degraded condition
//	review                   beside them: what admission requests of a catalog
//	cause                    beside them: findings of a fleet → what breaks most
//	whatif                   beside them: a change → difference in verdicts
//
// All of it is pure: no client, no logger, no clock. The time comes in as a
// value. The rules are those of OCM's add-on dependency proposal.
package dependency
