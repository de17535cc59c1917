// Package resolution compares the choices of pkg/dependency/resolution with all possible choices, judged by the rules
// of addon-manager, and with a SAT solver.
package resolution
