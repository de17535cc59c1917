// Package alerts tests deploy/alerts and deploy/dashboard with Prometheus' own
// packages: which alerts fire on which series, that each metric and label exists, and
// that each alert is in docs/runbook.md. It is a module of its own, as Prometheus is
// of no use to Interlock's.
package alerts
