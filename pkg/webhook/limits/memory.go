package limits

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	// defaultLimit is the limit of deploy/hub, less the memory that Go does not count.
	defaultLimit = 230 << 20
	// maxLimit is how much memory the webhook uses in a larger container.
	maxLimit = 1 << 30
)

// Memory returns how much memory the webhook may use. Unless GOMEMLIMIT is set, it also
// lets Go collect garbage in time for the memory limit of the container.
func Memory() int64 {
	if os.Getenv("GOMEMLIMIT") == "" {
		for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
			content, err := os.ReadFile(file) //nolint:gosec // one of two constants
			if err != nil {
				continue
			}
			if limit, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64); err == nil { // without a limit it is "max"
				debug.SetMemoryLimit(limit / 10 * 9)
			}
		}
	}
	if limit := debug.SetMemoryLimit(-1); limit < 1<<60 { // without a limit, cgroups and Go return about 1<<63
		return min(limit, maxLimit)
	}
	return defaultLimit
}
