// Package manifest reads ClusterManagementAddOns from the files of their authors, and policies from those of
// administrators.
package manifest

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/review"
	"open-cluster-management.io/interlock/pkg/regularfile"
	"open-cluster-management.io/interlock/pkg/report"
)

// Manifest is a ClusterManagementAddOn of a file.
type Manifest struct {
	Path  string
	AddOn addonv1alpha1.ClusterManagementAddOn
	// Wrong is what an API server refuses or drops of it, besides what it declares.
	Wrong []review.Judgement
	// Line is the line of a field in the file, from 1, or of the nearest one around it; 0
	// where it is not known.
	Line func(field string) int
}

// Template is an AddOnTemplate of a file that declares something.
type Template struct {
	Path     string
	Template addonv1alpha1.AddOnTemplate
	// Line is as that of a Manifest.
	Line func(field string) int
}

// Policy is an AddOnDependencyPolicy of a file.
type Policy struct {
	Path   string
	Policy dependencyv1alpha1.AddOnDependencyPolicy
}

// Files are what was read of files.
type Files struct {
	Manifests []Manifest
	Templates []Template
	// AddOnTemplates are all of them, with their versions, and those that declare nothing.
	AddOnTemplates []addonv1alpha1.AddOnTemplate
	// Policies are those that can be used.
	Policies []Policy
	// Skipped are errors on templates in folders, which are no manifests yet.
	Skipped []error
	// Broken are files, and objects in them, that cannot be decoded.
	Broken []report.LintFinding
}

// Err is an error if anything is broken.
func (f *Files) Err() error {
	if len(f.Broken) == 0 {
		return nil
	}
	first := &f.Broken[0]
	return fmt.Errorf("%s: %s", first.Path, first.Message)
}

// Lint judges what was read, together with the registrations of a hub, if any.
func (f *Files) Lint(hub []addonv1alpha1.ClusterManagementAddOn, isLive bool) *report.Lint {
	declared := f.Declared()
	found := report.FindLint(declared, hub, isLive)
	found.Items = append(found.Items, report.FindTemplateLint(f.DeclaredTemplates(), report.Among(declared, hub), isLive)...)
	found.Items = append(found.Items, f.Broken...)
	return found
}

// Declared are the registrations that were read.
func (f *Files) Declared() []report.Declared {
	declared := make([]report.Declared, 0, len(f.Manifests))
	for _, one := range f.Manifests {
		declared = append(declared, report.Declared(one))
	}
	return declared
}

// DeclaredTemplates are the AddOnTemplates that declare something.
func (f *Files) DeclaredTemplates() []report.DeclaredTemplate {
	declared := make([]report.DeclaredTemplate, 0, len(f.Templates))
	for _, one := range f.Templates {
		declared = append(declared, report.DeclaredTemplate(one))
	}
	return declared
}

// Read reads files, - for standard input, and all manifests in folders. It leaves out objects of other
// kinds, and AddOnTemplates that declare nothing. Its error is about a path that
// cannot be read, or has no object.
func Read(paths []string, in io.Reader) (*Files, error) {
	all := &Files{}
	for _, path := range paths {
		files, err := filesIn(path)
		if err != nil {
			return all, err
		}
		before := all.count()
		for _, file := range files {
			content, err := regularfile.ReadAll(file, in)
			if err != nil && file == path {
				return all, fmt.Errorf("%s: %w", file, err)
			}
			all.add(file, content, err, file == path)
		}
		if all.count() == before {
			return all, fmt.Errorf("%s has no %s", path, addOnKind)
		}
	}
	return all, nil
}

func (f *Files) count() int {
	return len(f.Manifests) + len(f.Templates) + len(f.Policies) + len(f.Broken)
}

// add adds a file, or why it cannot be read. A template is broken only if it is named.
func (f *Files) add(path string, content []byte, err error, isNamed bool) {
	var read Files
	if err == nil {
		read = decode(path, content)
	} else {
		read.Broken = []report.LintFinding{broken(path, 0, err)}
	}
	if len(read.Broken) > 0 && !isNamed && bytes.Contains(content, []byte("{{")) { // as in a chart
		f.Skipped = append(f.Skipped, fmt.Errorf("skipped the template %w", read.Err()))
		return
	}
	f.Manifests = append(f.Manifests, read.Manifests...)
	f.Templates = append(f.Templates, read.Templates...)
	f.AddOnTemplates = append(f.AddOnTemplates, read.AddOnTemplates...)
	f.Policies = append(f.Policies, read.Policies...)
	f.Broken = append(f.Broken, read.Broken...)
}

func broken(path string, line int, err error) report.LintFinding {
	return report.LintFinding{Path: path, Line: line, Severity: report.SeverityError, Rule: report.RuleUnreadable, Message: err.Error()}
}

// filesIn returns a file itself, and the manifests in a folder.
func filesIn(path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []string{path}, regularfile.Check(path)
	}
	var files []string
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) {
			files = append(files, name)
		}
		return err
	})
	return files, err
}
