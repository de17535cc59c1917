// Package compat groups the packages that are needed only while OCM lacks the add-on
// dependency proposal. Each package documents when it can be deleted:
//
//   - graft and crdgraft end when every supported OCM ships spec.dependencies
//     with all fields of Interlock.
//   - conversion ends with them: then OCM's own conversion keeps the fields.
//   - guard ends when every stock writer of Available follows the rule of the
//     proposal.
//   - gate ends when OCM holds installations back itself.
//   - rule and rule/installer end with both of them.
//   - endpoint serves the others, and ends with the last of them.
//
// docs/upstream.md has a table of them, which a test compares with the packages.
//
// pkg/hub, pkg/webhook and cmd use these packages. pkg/agent, pkg/cli and
// pkg/author may not.
package compat
