package versions

import "github.com/Masterminds/semver/v3"

// Interlock is the version of Interlock whose declarations this code understands. It is the next
// release, because a build may be stamped with a commit instead of a version.
var Interlock = semver.MustParse("0.1.0")
