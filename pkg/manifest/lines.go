package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/review"
)

// place is where an object is: in a file, at a node of its YAML; nil where it is not known.
type place struct {
	path string
	node *yaml.Node
}

// line is that of a field, or 0.
func (p place) line(field string) int {
	if p.node == nil {
		return 0
	}
	return lineOf(p.node, field)
}

// doubled judges the fields that the object has twice.
func (p place) doubled() []review.Judgement {
	if p.node == nil {
		return nil
	}
	return doubledIn(p.node, "")
}

// nodesOf returns the nodes of the objects that objectsOf returns, up to an error of syntax.
func nodesOf(content []byte) (nodes []*yaml.Node, err error) {
	for decoder := yaml.NewDecoder(bytes.NewReader(content)); ; {
		var document yaml.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return nodes, nil
		} else if err != nil {
			return nodes, err
		}
		nodes = append(nodes, nodesIn(&document, metav1.TypeMeta{})...)
	}
}

// nodesIn returns the nodes of a document in the order of objectsIn.
func nodesIn(node *yaml.Node, implied metav1.TypeMeta) (found []*yaml.Node) {
	if node.Kind == yaml.DocumentNode && len(node.Content) == 1 {
		return nodesIn(node.Content[0], implied)
	}
	of := implied
	if _, own := member(node, "kind"); own != nil {
		of.Kind = own.Value
	}
	if _, own := member(node, "apiVersion"); own != nil {
		of.APIVersion = own.Value
	}
	if isList(of) {
		if _, items := member(node, "items"); items != nil {
			for _, item := range items.Content {
				found = append(found, nodesIn(item, impliedBy(of))...)
			}
		}
		return found
	}
	if node.Kind == yaml.MappingNode && isJudged(of) {
		found = []*yaml.Node{node}
	}
	return found
}

// member returns the key and the value of a member of an object, nil where there is none. Of
// several with the name, the last one counts.
func member(node *yaml.Node, name string) (key, value *yaml.Node) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			key, value = node.Content[i], node.Content[i+1]
		}
	}
	return key, value
}

// doubledIn judges what a node at a path has twice, and all below it. YAML that is made JSON
// has only the last one.
func doubledIn(node *yaml.Node, path string) (judged []review.Judgement) {
	if node.Kind == yaml.SequenceNode {
		for i, item := range node.Content {
			judged = append(judged, doubledIn(item, fmt.Sprintf("%s[%d]", path, i))...)
		}
	}
	if node.Kind != yaml.MappingNode {
		return judged
	}
	times := map[string]int{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name := node.Content[i].Value
		field := strings.TrimPrefix(path+"."+name, ".")
		if strings.ContainsAny(name, ".[]") {
			field = path + "[" + name + "]"
		}
		if times[name]++; times[name] == 2 {
			judged = append(judged, judgeField(field, fmt.Sprintf("duplicate field %q: only the last one counts, and an API server may refuse it", field)))
		}
		judged = append(judged, doubledIn(node.Content[i+1], field)...)
	}
	return judged
}

// step is one part of a path such as spec.requirements.claims[a.b], or an index.
var step = regexp.MustCompile(`\[([^]]*)\]|[^.[\]]+`)

// lineOf follows a path as far as it leads.
func lineOf(node *yaml.Node, field string) int {
	line := node.Line
	for _, found := range step.FindAllStringSubmatch(field, -1) {
		name := found[0]
		if found[1] != "" {
			name = found[1]
		}
		key, value := member(node, name)
		if index, err := strconv.Atoi(name); err == nil && node.Kind == yaml.SequenceNode && index < len(node.Content) {
			key, value = node.Content[index], node.Content[index]
		}
		if value == nil {
			break
		}
		node, line = value, key.Line
	}
	return line
}

var lineInError = regexp.MustCompile(`\bline (\d+)`)

// syntaxLine is the line that an error of the YAML decoder names, or 0. Its errors are texts, without a field for the line.
func syntaxLine(err error) int {
	found := lineInError.FindStringSubmatch(err.Error())
	if found == nil {
		return 0
	}
	line, _ := strconv.Atoi(found[1]) // its digits
	return line
}
