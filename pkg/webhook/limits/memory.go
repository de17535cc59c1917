package limits

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	// assumed is the limit of deploy/hub, less what Go does not count.
	assumed = 230 << 20
	// most is what the webhook uses of a container that has more.
	most = 1 << 30
)

// Memory lets Go collect garbage in time for the memory limit of the container, unless
// GOMEMLIMIT is set, and returns how much memory there is.
func Memory() int64 {
	if os.Getenv("GOMEMLIMIT") == "" {
		for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
			content, err := os.ReadFile(file) //nolint:gosec // one of two constants
			if err != nil {
				continue
			}
			if limit, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64); err == nil { // else there is none: "max"
				debug.SetMemoryLimit(limit / 10 * 9)
			}
		}
	}
	if limit := debug.SetMemoryLimit(-1); limit < 1<<60 { // without a limit, cgroups and Go return about 1<<63
		return min(limit, most)
	}
	return assumed
}
