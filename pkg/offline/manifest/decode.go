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
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// object is an object to judge, in JSON.
type object struct {
	metav1.TypeMeta
	raw []byte
}

// decode reads the objects of a file, up to the first error of syntax. file is its place without an object.
func decode(file place, content []byte) Files {
	var read Files
	if objects, err := decodeAnyKind(file, content); err == nil {
		read.Objects = objects
	}
	objects, err := objectsOf(content)
	nodes, syntaxErr := nodesOf(content)
	for i, o := range objects {
		origin := file
		if len(nodes) == len(objects) { // JSON that is not valid YAML has no nodes
			origin.node = nodes[i]
		}
		read.decodeObject(o, origin)
	}
	if err != nil {
		line := 0
		if syntaxErr != nil && !bytes.HasPrefix(bytes.TrimSpace(content), []byte("{")) {
			err, line = syntaxErr, syntaxLine(syntaxErr) // its lines count from the beginning of the file, not of a document
		} else if value := infinite(content); value != nil {
			err, line = value, syntaxLine(value)
		}
		read.Broken = append(read.Broken, broken(file.path, line, err))
	}
	return read
}

// embedded matches names of embedded Go structs in a path: fields of an API begin with a small letter.
var embedded = regexp.MustCompile(`\b[A-Z]\w*\.`)

// decodeObject adds an object that isJudged accepts.
func (f *Files) decodeObject(o object, origin place) {
	var read struct {
		Metadata map[string]any `json:"metadata"`
	}
	_ = json.Unmarshal(o.raw, &read) // decoding the object reports the error
	if wrong := mistypedIn(read.Metadata, origin.written); wrong != nil {
		f.Broken = append(f.Broken, broken(origin.path, origin.line(wrong.field()), wrong))
		return
	}
	if isTemplate(o.TypeMeta) {
		f.decodeTemplate(o, origin)
		return
	}
	if isPolicy(o.TypeMeta) {
		f.decodePolicy(o, origin)
		return
	}
	if o.Kind != addOnKind {
		for _, judged := range judgeKind(o.TypeMeta) {
			f.Broken = append(f.Broken, origin.finding(judged, ""))
		}
		return
	}
	manifest := Manifest{Path: origin.path, Line: origin.line, Wrong: origin.duplicates()}
	judged, err := judge(o.raw, o.TypeMeta, origin.node == nil)
	if err == nil {
		err = decodeRegistration(o, &manifest.AddOn)
	}
	var typeErr *gojson.UnmarshalTypeError
	switch {
	case errors.As(err, &typeErr):
		field := embedded.ReplaceAllString(typeErr.Field, "")
		err = fmt.Errorf("%s: its value cannot be of type %s", field, typeErr.Value)
		f.Broken = append(f.Broken, broken(origin.path, origin.line(field), err))
	case err != nil:
		f.Broken = append(f.Broken, broken(origin.path, origin.line(""), err))
	default:
		manifest.Wrong = append(append(manifest.Wrong, judged...), judgeVersion(manifest.AddOn.Annotations)...)
		f.Manifests = append(f.Manifests, manifest)
	}
}

// decodeRegistration decodes a ClusterManagementAddOn. It reads both versions of its API. The default configs of v1beta1 are supported
// configs in v1alpha1.
func decodeRegistration(o object, addOn *addonv1alpha1.ClusterManagementAddOn) error {
	if err := json.Unmarshal(o.raw, addOn); err != nil || o.APIVersion != ocmv1beta1.GroupVersion.String() {
		return err
	}
	var beta struct {
		Spec struct {
			DefaultConfigs []ocmv1beta1.AddOnConfig `json:"defaultConfigs"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(o.raw, &beta); err != nil {
		return err
	}
	for _, config := range beta.Spec.DefaultConfigs {
		//nolint:staticcheck // v1alpha1 has no other field for it
		addOn.Spec.SupportedConfigs = append(addOn.Spec.SupportedConfigs, ocmv1alpha1.ConfigMeta{
			ConfigGroupResource: ocmv1alpha1.ConfigGroupResource(config.ConfigGroupResource),
			DefaultConfig:       &ocmv1alpha1.ConfigReferent{Namespace: config.Namespace, Name: config.Name},
		})
	}
	return nil
}

// decodeTemplate adds an AddOnTemplate. A template with a declaration is also added to the templates to check. Its manifests are not
// decoded.
func (f *Files) decodeTemplate(o object, origin place) {
	var read struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     struct {
			AddonName string `json:"addonName"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(o.raw, &read); err != nil {
		f.Broken = append(f.Broken, broken(origin.path, origin.line(""), err))
		return
	}
	template := Template{Path: origin.path, Line: origin.line, Template: addonv1alpha1.AddOnTemplate{ObjectMeta: read.Metadata}}
	template.Template.Spec.AddonName = read.Spec.AddonName
	for _, judged := range judgeTemplateVersion(read.Metadata.Annotations, read.Metadata.Labels) {
		f.Broken = append(f.Broken, origin.finding(judged, read.Spec.AddonName))
	}
	f.AddOnTemplates = append(f.AddOnTemplates, *fleet.LeanTemplate(&template.Template))
	if _, ok := declaration.ReadTemplate(&template.Template); ok {
		f.Templates = append(f.Templates, template)
	}
}

// objectsOf returns the objects to judge, up to the first error of syntax.
func objectsOf(content []byte) ([]object, error) {
	var objects []object
	for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096); ; {
		var document runtime.RawExtension
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return objects, err
		}
		decoded, err := objectsIn(document.Raw, metav1.TypeMeta{})
		if objects = append(objects, decoded...); err != nil {
			return objects, err
		}
	}
}

// objectsIn returns the objects to judge in a document: the document itself, or the items of a list. An item of a list may
// leave out the kind and the version that the list implies.
func objectsIn(raw []byte, implied metav1.TypeMeta) ([]object, error) {
	if !bytes.HasPrefix(raw, []byte("{")) {
		return nil, nil // the document is not an object. It may be a list of patches
	}
	typeMeta := implied
	if err := json.Unmarshal(raw, &typeMeta); err != nil {
		return nil, err
	}
	if !isList(typeMeta) {
		if isJudged(typeMeta) {
			return []object{{typeMeta, raw}}, nil
		}
		return nil, nil
	}
	var list struct {
		Items []runtime.RawExtension `json:"items"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, err
	}
	var objects []object
	for _, item := range list.Items {
		decoded, err := objectsIn(item.Raw, impliedBy(typeMeta))
		if objects = append(objects, decoded...); err != nil {
			return objects, err
		}
	}
	return objects, nil
}

const listKind = "List"

func isList(typeMeta metav1.TypeMeta) bool {
	switch typeMeta.Kind {
	case listKind, addOnKind + listKind, templateKind + listKind, dependencyv1alpha1.PolicyKind.Kind + listKind:
		return true
	}
	return false
}

// impliedBy returns the kind and the version of items of a list that have none of their own.
func impliedBy(list metav1.TypeMeta) metav1.TypeMeta {
	if list.Kind == listKind {
		return metav1.TypeMeta{}
	}
	return metav1.TypeMeta{Kind: strings.TrimSuffix(list.Kind, listKind), APIVersion: list.APIVersion}
}
