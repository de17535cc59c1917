// Package lineend makes text files comparable that Git has checked out on Windows.
package lineend

import "bytes"

// Unix returns a text with the line ends of Unix. Git on Windows writes others (core.autocrlf), and shows no difference, so no comparison
// of a file with its expected bytes may depend on them.
func Unix(content []byte) []byte { return bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")) }
