// Package deployment tests deploy/: that the Helm chart and the kustomize bases
// install the same, that the chart's values are checked, and what pods may do.
// It is a module of its own, as Helm and kustomize are of no use to Interlock's.
package deployment
