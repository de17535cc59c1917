package manifest

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// infiniteError is the error for a number of YAML that JSON does not have, such as .inf.
type infiniteError struct {
	line    int
	written string
}

func (e *infiniteError) Error() string {
	return fmt.Sprintf("line %d: the value %s is a number that JSON does not have: if it is a text, put it in quotes, %q",
		e.line, e.written, e.written)
}

// infinite returns the error for the first number in a file that JSON does not have, or nil.
func infinite(content []byte) error {
	for decoder := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var document yaml.Node
		if err := decoder.Decode(&document); err != nil {
			return nil //nolint:nilerr // the caller has the error
		}
		if node := infiniteIn(&document); node != nil {
			return &infiniteError{node.Line, node.Value}
		}
	}
}

func infiniteIn(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.ScalarNode && node.Tag == "!!float" {
		switch strings.ToLower(strings.TrimLeft(node.Value, "+-")) {
		case ".inf", ".nan":
			return node
		}
	}
	for _, child := range node.Content {
		if number := infiniteIn(child); number != nil {
			return number
		}
	}
	return nil
}
