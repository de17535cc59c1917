package witness

import (
	"fmt"
	"strings"
)

// Writer is the client that made a request.
type Writer struct {
	User string
	// Manager is the field manager, or what the API server takes for it where
	// the request names none: the user agent up to its first slash.
	Manager string
}

// own are prefixes of field managers and user agents of Interlock: its programs
// name themselves, or are known by the name of the binary.
var own = []string{"interlock-", "addon-manager", "addon-agent", "kubectl-addon"}

// Interlock reports whether it is one of Interlock's programs.
func (w Writer) Interlock() bool {
	for _, prefix := range own {
		if strings.HasPrefix(w.Manager, prefix) {
			return true
		}
	}
	return strings.Contains(w.User, ":interlock-")
}

func (w Writer) String() string {
	if w == (Writer{}) {
		return "unknown writer"
	}
	return fmt.Sprintf("%s (%s)", w.Manager, w.User)
}
