package witness

import (
	"fmt"
	"strings"
)

// Writer is the client that made a request.
type Writer struct {
	User string
	// Manager is the field manager. If the request names none, it is the user agent up to its first slash, like in
	// the API server.
	Manager string
}

// own are prefixes of field managers and user agents of Interlock. Its programs set a name, or have the name of their
// binary.
var own = []string{"interlock-", "addon-manager", "addon-agent", "kubectl-addon"}

// Interlock reports whether the writer is a program of Interlock.
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
