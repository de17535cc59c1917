// Package resolution compares what pkg/dependency/resolution chooses with all choices that there are, as the rules of
// addon-manager find them, and with a SAT solver.
package resolution
