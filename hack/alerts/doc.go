// Package alerts tests deploy/alerts and deploy/dashboard with Prometheus' own
// packages: the alerts that fire on given series, that each metric and label exists, and
// that each alert is in docs/runbook.md. It is a module of its own, because Interlock's
// module does not need Prometheus.
package alerts
