package manifest

import (
	"bytes"
	gojson "encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/report"
)

// object is one that is judged, as JSON.
type object struct {
	metav1.TypeMeta
	raw []byte
}

// decode reads the objects of a file, up to what is no YAML or JSON.
func decode(path string, content []byte) (read Files) {
	objects, err := objectsOf(content)
	nodes, syntaxErr := nodesOf(content)
	for i, one := range objects {
		at := place{path: path}
		if len(nodes) == len(objects) { // JSON that is no YAML has no nodes
			at.node = nodes[i]
		}
		read.decodeObject(one, at)
	}
	if err != nil {
		line := 0
		if syntaxErr != nil && !bytes.HasPrefix(bytes.TrimSpace(content), []byte("{")) {
			err, line = syntaxErr, syntaxLine(syntaxErr) // its lines are those of the file, not of a document
		}
		read.Broken = append(read.Broken, broken(path, line, err))
	}
	return read
}

// embedded are names of Go structs in a path: fields of an API begin with a small letter.
var embedded = regexp.MustCompile(`\b[A-Z]\w*\.`)

// decodeObject adds an object that isJudged.
func (f *Files) decodeObject(one object, at place) {
	if isTemplate(one.TypeMeta) {
		f.decodeTemplate(one, at)
		return
	}
	if isPolicy(one.TypeMeta) {
		f.decodePolicy(one, at)
		return
	}
	if one.Kind != addOnKind {
		for _, wrong := range judgeKind(one.TypeMeta) {
			f.Broken = append(f.Broken, report.LintFinding{
				Path: at.path, Line: at.line(wrong.Field), Severity: report.SeverityError, Rule: wrong.Rule, Field: wrong.Field, Message: wrong.Message,
			})
		}
		return
	}
	manifest := Manifest{Path: at.path, Line: at.line, Wrong: at.doubled()}
	judged, err := judge(one.raw, one.TypeMeta, at.node == nil)
	if err == nil {
		err = json.Unmarshal(one.raw, &manifest.AddOn)
	}
	var wrongType *gojson.UnmarshalTypeError
	switch {
	case errors.As(err, &wrongType):
		field := embedded.ReplaceAllString(wrongType.Field, "")
		f.Broken = append(f.Broken, broken(at.path, at.line(field), fmt.Errorf("%s: its value cannot be of type %s", field, wrongType.Value)))
	case err != nil:
		f.Broken = append(f.Broken, broken(at.path, at.line(""), err))
	default:
		manifest.Wrong = append(manifest.Wrong, judged...)
		f.Manifests = append(f.Manifests, manifest)
	}
}

// decodeTemplate adds an AddOnTemplate, also to those that are checked if it declares something. What it deploys is not decoded.
func (f *Files) decodeTemplate(one object, at place) {
	var read struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     struct {
			AddonName string `json:"addonName"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(one.raw, &read); err != nil {
		f.Broken = append(f.Broken, broken(at.path, at.line(""), err))
		return
	}
	template := Template{Path: at.path, Line: at.line, Template: addonv1alpha1.AddOnTemplate{ObjectMeta: read.Metadata}}
	template.Template.Spec.AddonName = read.Spec.AddonName
	f.AddOnTemplates = append(f.AddOnTemplates, *fleet.LeanTemplate(&template.Template))
	if _, declares := declaration.ReadTemplate(&template.Template); declares {
		f.Templates = append(f.Templates, template)
	}
}

// objectsOf returns the objects that are judged, and an error for what is no YAML or JSON.
func objectsOf(content []byte) (all []object, err error) {
	for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096); ; {
		var document runtime.RawExtension
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return all, err
		}
		objects, err := objectsIn(document.Raw, metav1.TypeMeta{})
		if all = append(all, objects...); err != nil {
			return all, err
		}
	}
}

// objectsIn returns the objects of a document, which may be a list. An item of a list may
// leave out the kind and the version that the list implies.
func objectsIn(raw []byte, implied metav1.TypeMeta) (all []object, err error) {
	if !bytes.HasPrefix(raw, []byte("{")) {
		return nil, nil // no object, such as a list of patches
	}
	of := implied
	if err := json.Unmarshal(raw, &of); err != nil {
		return nil, err
	}
	if !isList(of) {
		if isJudged(of) {
			all = []object{{of, raw}}
		}
		return all, nil
	}
	var list struct {
		Items []runtime.RawExtension `json:"items"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	for _, item := range list.Items {
		objects, err := objectsIn(item.Raw, impliedBy(of))
		if all = append(all, objects...); err != nil {
			return all, err
		}
	}
	return all, nil
}

const listKind = "List"

func isList(of metav1.TypeMeta) bool {
	return of.Kind == listKind || of.Kind == addOnKind+listKind || of.Kind == templateKind+listKind || of.Kind == dependencyv1alpha1.PolicyKind.Kind+listKind
}

// impliedBy is what the items of a list are without a kind of their own.
func impliedBy(list metav1.TypeMeta) metav1.TypeMeta {
	if list.Kind == listKind {
		return metav1.TypeMeta{}
	}
	return metav1.TypeMeta{Kind: strings.TrimSuffix(list.Kind, listKind), APIVersion: list.APIVersion}
}
