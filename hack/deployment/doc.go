// Package deployment renders the Helm chart and tests deploy/: that the chart and
// the kustomize bases install the same objects, that the chart's values are checked, and
// the rights of pods. It is a module of its own, because Interlock's module does not need
// Helm.
package deployment
