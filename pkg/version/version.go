// Package version holds the version that a build is stamped with.
package version

// Version is set by the linker; see the Makefile.
var Version = "unknown"
