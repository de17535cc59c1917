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

	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/pkg/report"
)

// place is the place of an object in a file.
type place struct {
	path string
	// node is the object's node in the YAML. It is nil for JSON that is not valid YAML.
	node *yaml.Node
	// isRendered is true if the content was rendered from other files, so its lines are not those of a file.
	isRendered bool
}

// line returns the line of a field, or 0.
func (p place) line(field string) int {
	if p.node == nil || p.isRendered {
		return 0
	}
	return lineOf(p.node, field)
}

// finding returns an error on a field of the object. addOn may be empty.
func (p place) finding(judged review.Judgement, addOn string) report.LintFinding {
	return report.LintFinding{
		Path:     p.path,
		Line:     p.line(judged.Field),
		AddOn:    addOn,
		Severity: report.SeverityError,
		Rule:     judged.Rule,
		Field:    judged.Field,
		Message:  judged.Message,
	}
}

// duplicates judges the fields that the object has twice.
func (p place) duplicates() []review.Judgement {
	if p.node == nil {
		return nil
	}
	return duplicatesIn(p.node, "")
}

// nodesOf returns the nodes of the objects that objectsOf returns, up to an error of syntax.
func nodesOf(content []byte) ([]*yaml.Node, error) {
	var nodes []*yaml.Node
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
func nodesIn(node *yaml.Node, implied metav1.TypeMeta) []*yaml.Node {
	if node.Kind == yaml.DocumentNode && len(node.Content) == 1 {
		return nodesIn(node.Content[0], implied)
	}
	typeMeta := implied
	if _, kind := member(node, "kind"); kind != nil {
		typeMeta.Kind = kind.Value
	}
	if _, version := member(node, "apiVersion"); version != nil {
		typeMeta.APIVersion = version.Value
	}
	var nodes []*yaml.Node
	if isList(typeMeta) {
		if _, items := member(node, "items"); items != nil {
			for _, item := range items.Content {
				nodes = append(nodes, nodesIn(item, impliedBy(typeMeta))...)
			}
		}
		return nodes
	}
	if node.Kind == yaml.MappingNode && isJudged(typeMeta) {
		nodes = []*yaml.Node{node}
	}
	return nodes
}

// LineOf returns the line of a field in a file with one object, or of the deepest part of its path that exists. It returns 0 for a file that
// is no YAML.
func LineOf(content []byte, field string) int {
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil || len(document.Content) != 1 {
		return 0
	}
	return lineOf(document.Content[0], field)
}

// member returns the key and the value of a member of an object, or nil. If several members have
// the name, it returns the last one.
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

// duplicatesIn judges the duplicate fields in the node at a path, at any depth. It has to search the YAML, because its conversion
// to JSON drops all but the last one.
func duplicatesIn(node *yaml.Node, path string) []review.Judgement {
	var judged []review.Judgement
	if node.Kind == yaml.SequenceNode {
		for i, item := range node.Content {
			judged = append(judged, duplicatesIn(item, fmt.Sprintf("%s[%d]", path, i))...)
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
			message := fmt.Sprintf("duplicate field %q: only the last one counts, and an API server may refuse it", field)
			judged = append(judged, judgeField(field, message))
		}
		judged = append(judged, duplicatesIn(node.Content[i+1], field)...)
	}
	return judged
}

// step matches a part of a path such as spec.requirements.claims[a.b]: a name, or an index or a key in brackets.
var step = regexp.MustCompile(`\[([^]]*)\]|[^.[\]]+`)

// lineOf returns the line of the field at a path, or of the deepest part of the path that exists.
func lineOf(node *yaml.Node, field string) int {
	line := node.Line
	for _, match := range step.FindAllStringSubmatch(field, -1) {
		name := match[0]
		if match[1] != "" {
			name = match[1]
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

// syntaxLine returns the line that an error of the YAML decoder names, or 0. It parses the message, because the error has no field
// for the line.
func syntaxLine(err error) int {
	match := lineInError.FindStringSubmatch(err.Error())
	if match == nil {
		return 0
	}
	line, _ := strconv.Atoi(match[1]) // it has only digits
	return line
}
