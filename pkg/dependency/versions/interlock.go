package versions

import "github.com/Masterminds/semver/v3"

// Interlock is the version of Interlock whose declarations this code understands: that of
// its next release. The version that a build is stamped with may be a commit.
var Interlock = semver.MustParse("0.1.0")
