// Package lineend makes text files comparable that Git has checked out on Windows.
package lineend

import "bytes"

// Unix returns a text with the line ends of Unix, and without a byte order mark. Git on Windows writes other line ends (core.autocrlf), and
// shows no difference, and editors there write the mark. So no comparison of a file with its expected bytes may depend on them.
func Unix(content []byte) []byte {
	return bytes.ReplaceAll(bytes.TrimPrefix(content, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
}
