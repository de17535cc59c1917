// Package manifest reads ClusterManagementAddOns from the files of their authors, and policies from the files of
// administrators.
package manifest

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/pkg/files/regularfile"
	"open-cluster-management.io/interlock/pkg/offline/kustomization"
	"open-cluster-management.io/interlock/pkg/report"
)

// Manifest is a ClusterManagementAddOn in a file.
type Manifest struct {
	Path  string
	AddOn addonv1alpha1.ClusterManagementAddOn
	// Wrong has the fields that an API server would refuse or drop, except fields of the declaration.
	Wrong []review.Judgement
	// Line returns the line of a field in the file, from 1, or of the nearest field around it. It returns 0
	// if the line is unknown.
	Line func(field string) int
}

// Template is an AddOnTemplate in a file that has a declaration.
type Template struct {
	Path     string
	Template addonv1alpha1.AddOnTemplate
	// Line returns the line of a field, as Manifest.Line does.
	Line func(field string) int
}

// Policy is an AddOnDependencyPolicy in a file.
type Policy struct {
	Path   string
	Policy dependencyv1alpha1.AddOnDependencyPolicy
}

// Files has the objects in files.
type Files struct {
	Manifests []Manifest
	Templates []Template
	// AddOnTemplates has all AddOnTemplates with their versions, including templates without a declaration.
	AddOnTemplates []addonv1alpha1.AddOnTemplate
	// Policies has the valid policies.
	Policies []Policy
	// Objects has the objects of all kinds, in the files that have nothing else.
	Objects []Object
	// Skipped has the errors of text templates in folders: these become manifests only when they are rendered.
	Skipped []error
	// Broken has findings on files and objects that cannot be decoded.
	Broken []report.LintFinding
}

// Err returns the first error of Broken.
func (f *Files) Err() error {
	if len(f.Broken) == 0 {
		return nil
	}
	first := &f.Broken[0]
	return fmt.Errorf("%s: %s", first.Path, first.Message)
}

// Lint judges the objects in the files, together with the registrations of a hub.
func (f *Files) Lint(hub []addonv1alpha1.ClusterManagementAddOn, isLive bool) *report.Lint {
	registrations := f.Declared()
	lint := report.FindLint(registrations, hub, isLive)
	lint.Items = append(lint.Items, report.FindTemplateLint(f.DeclaredTemplates(), report.Among(registrations, hub), isLive)...)
	lint.Items = append(lint.Items, f.Broken...)
	for i := range lint.Items {
		if finding := &lint.Items[i]; finding.Rule == report.RuleRegisteredTwice && kustomization.IsPath(finding.Path) {
			finding.Message += "; " + kustomization.OverlayAdvice
		}
	}
	return lint
}

// Declared returns the registrations in the files.
func (f *Files) Declared() []report.Declared {
	registrations := make([]report.Declared, 0, len(f.Manifests))
	for _, manifest := range f.Manifests {
		registrations = append(registrations, report.Declared(manifest))
	}
	return registrations
}

// DeclaredTemplates returns the AddOnTemplates with a declaration.
func (f *Files) DeclaredTemplates() []report.DeclaredTemplate {
	templates := make([]report.DeclaredTemplate, 0, len(f.Templates))
	for _, template := range f.Templates {
		templates = append(templates, report.DeclaredTemplate(template))
	}
	return templates
}

// Read reads files, and all manifests in folders. The path - is standard input. It builds the kustomizations in folders, and reads no
// other file there. It leaves out objects of other kinds, and AddOnTemplates without a declaration. Its error names a path that cannot be
// read, or has no object.
func Read(paths []string, stdin io.Reader) (*Files, error) {
	read := &Files{}
	for _, path := range paths {
		count := read.count()
		files, kustomizations, err := Sources(path, nil)
		if err != nil {
			return read, err
		}
		for _, file := range files {
			content, err := regularfile.ReadAll(file, stdin)
			if err != nil && file == path {
				return read, fmt.Errorf("%s: %w", file, err)
			}
			if kustomization.IsFile(file, content) {
				read.Skipped = append(read.Skipped, fmt.Errorf("skipped %s: name its folder, and it is built by kustomize", file))
				continue
			}
			read.add(file, content, err, file == path)
		}
		for _, file := range kustomizations {
			read.addKustomization(file)
		}
		if read.count() == count {
			return read, fmt.Errorf("%s has no %s", path, addOnKind)
		}
	}
	return read, nil
}

// addKustomization adds the objects that a kustomization gives.
func (f *Files) addKustomization(file *kustomization.File) {
	if file.Component {
		f.Skipped = append(f.Skipped, fmt.Errorf("skipped %s: it is a Component of kustomize, which is built where a kustomization names it",
			filepath.Dir(file.Path)))
		return
	}
	built, err := kustomization.Build(filepath.Dir(file.Path))
	if err != nil {
		f.Broken = append(f.Broken, broken(file.Path, 0, err))
		return
	}
	for _, object := range built {
		content, err := object.MarshalJSON()
		if err != nil {
			f.Broken = append(f.Broken, broken(file.Path, 0, err))
			continue
		}
		f.merge(decode(place{path: file.Path, isRendered: true}, content))
	}
}

func (f *Files) count() int {
	return len(f.Manifests) + len(f.Templates) + len(f.Policies) + len(f.Broken)
}

// add adds the objects of a file, or the error of reading it. A text template in a folder is skipped. It is broken only if the user
// names the file.
func (f *Files) add(path string, content []byte, err error, isNamed bool) {
	var read Files
	if err == nil {
		read = decode(place{path: path}, content)
	} else {
		read.Broken = []report.LintFinding{broken(path, 0, err)}
	}
	if len(read.Broken) > 0 && !isNamed && bytes.Contains(content, []byte("{{")) { // a template of a chart
		f.Skipped = append(f.Skipped, fmt.Errorf("skipped the template %w", read.Err()))
		return
	}
	f.merge(read)
}

// merge adds the objects and findings of other files.
func (f *Files) merge(read Files) {
	f.Manifests = append(f.Manifests, read.Manifests...)
	f.Templates = append(f.Templates, read.Templates...)
	f.AddOnTemplates = append(f.AddOnTemplates, read.AddOnTemplates...)
	f.Policies = append(f.Policies, read.Policies...)
	f.Objects = append(f.Objects, read.Objects...)
	f.Broken = append(f.Broken, read.Broken...)
}

func broken(path string, line int, err error) report.LintFinding {
	return report.LintFinding{Path: path, Line: line, Severity: report.SeverityError, Rule: report.RuleUnreadable, Message: err.Error()}
}
