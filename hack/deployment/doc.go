// Package deployment renders the Helm chart and tests deploy/: that the chart and
// the kustomize bases install the same, that the chart's values are checked, and
// what pods may do. It is a module of its own, as Helm is of no use to Interlock's.
package deployment
