// Package declarationtest is for authors of add-ons. Their tests evaluate what an add-on
// declares on managed clusters that they imagine, by the rules of addon-manager: other
// versions of Kubernetes, of Open Cluster Management and of the add-ons there. It needs no
// hub and no cluster.
package declarationtest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/interlock/pkg/apis/addon/v1beta1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/dependency/whatif"
	"open-cluster-management.io/interlock/pkg/manifest"
	"open-cluster-management.io/interlock/pkg/report"
)

// Declarations are what the add-ons of an imagined hub declare.
type Declarations struct {
	declared *evaluation.Evaluator
	whole    *whatif.Evaluation
	// templates are the versions of AddOnTemplates by their names.
	templates map[string]string
}

// Read reads the ClusterManagementAddOns in files, and in all YAML and JSON files of
// folders, and the AddOnTemplates that declare something. Other objects there are left
// out. Its error names the file, the line and the field of what cannot be read, or of what
// admission would deny.
func Read(paths ...string) (*Declarations, error) {
	files, err := manifest.Read(paths, strings.NewReader(""))
	if err := errors.Join(err, files.Err()); err != nil {
		return nil, err
	}
	for _, wrong := range files.Lint(nil, false).Items {
		if wrong.Severity == report.SeverityError {
			return nil, fmt.Errorf("%s:%d: %s: %s", wrong.Path, wrong.Line, wrong.AddOn, wrong.Message)
		}
	}
	templates := make([]addonv1alpha1.AddOnTemplate, 0, len(files.Templates))
	for _, one := range files.Templates {
		templates = append(templates, one.Template)
	}
	return New(report.Among(files.Declared(), nil), templates...), nil
}

// New is for add-ons that are declared in Go. What admission would deny is evaluated as
// where it is stored already.
func New(addOns []addonv1alpha1.ClusterManagementAddOn, templates ...addonv1alpha1.AddOnTemplate) *Declarations {
	declared := evaluation.New(catalog.Some(addOns, templates...))
	d := &Declarations{declared, whatif.New(declared), make(map[string]string, len(templates))}
	for i := range templates {
		d.templates[templates[i].Name] = versions.OfTemplate(templates[i].Annotations, templates[i].Labels)
	}
	return d
}

// NewV1beta1 is New for add-ons that are declared in version v1beta1, as add-ons on addon-framework are.
func NewV1beta1(addOns []addonv1beta1.ClusterManagementAddOn, templates ...addonv1alpha1.AddOnTemplate) (*Declarations, error) {
	converted := make([]addonv1alpha1.ClusterManagementAddOn, 0, len(addOns))
	for i := range addOns {
		addOn, err := addOns[i].AsV1alpha1()
		if err != nil {
			return nil, err
		}
		converted = append(converted, *addOn)
	}
	return New(converted, templates...), nil
}

// Findings returns a finding for each dependency of the named add-on on the cluster, in the
// order declared, and then for each requirement, once all conditions there have followed.
// The add-on is imagined to be installed, whether or not the cluster lists it. Its error is
// about an add-on that is not declared, a declaration that addon-manager does not use, or a
// value of the cluster that cannot be used.
func (d *Declarations) Findings(addOn string, on Cluster) ([]evaluation.Finding, error) {
	if !d.declared.Registered(addOn) {
		return nil, fmt.Errorf("add-on %q has no ClusterManagementAddOn among those that were read: %s",
			addOn, strings.Join(d.declared.AddOns(), ", "))
	}
	if !slices.ContainsFunc(on.AddOns, func(one AddOn) bool { return one.Name == addOn }) {
		on.AddOns = append(slices.Clone(on.AddOns), AddOn{Name: addOn})
	}
	imagined, err := d.imagine(on)
	if err != nil {
		return nil, err
	}
	if err := d.unusable(addOn, imagined); err != nil {
		return nil, err
	}
	return d.whole.Findings(imagined)[addOn], nil
}

// unusable returns what is wrong with the declaration that counts on the cluster, where
// addon-manager does not use it.
func (d *Declarations) unusable(addOn string, on whatif.Cluster) error {
	observe := func(name string) evaluation.Observation { return on.AddOns[name] }
	declared, problems, of := d.declared.Declaration(addOn), d.declared.Problems, addOn
	if template := d.declared.Variant(addOn, d.declared.State(addOn, on.Cluster, observe)); template != "" {
		_, declared, _ = d.declared.Template(template)
		problems, of = d.declared.TemplateProblems, template
	}
	if !declared.Invalid {
		return nil
	}
	var messages []string
	for _, problem := range problems(of) {
		messages = append(messages, problem.Message)
	}
	return fmt.Errorf("the declaration of add-on %q is not used: %s", addOn, strings.Join(messages, "; "))
}

// Check returns an error with the message of the condition Degraded that addon-manager
// would set on the add-on, nil where none of its dependencies and requirements is
// unsatisfied. Optional ones count too. Other errors are those of Findings.
func (d *Declarations) Check(addOn string, on Cluster) error {
	findings, err := d.Findings(addOn, on)
	if err != nil {
		return err
	}
	if message := condition.Message(findings, condition.MaxMessage); message != "" {
		return errors.New(message)
	}
	return nil
}

// CheckChange returns an error that names the dependencies and requirements, of all add-ons
// that are installed on the cluster as it is afterwards, which the change would break: they
// are unsatisfied there, and were not before. It is nil where there is none. Other errors
// are those of Findings.
func (d *Declarations) CheckChange(before, after Cluster) error {
	was, err := d.imagine(before)
	if err != nil {
		return fmt.Errorf("before: %w", err)
	}
	is, err := d.imagine(after)
	if err != nil {
		return fmt.Errorf("after: %w", err)
	}
	for _, addOn := range slices.Sorted(maps.Keys(is.AddOns)) {
		if err := d.unusable(addOn, is); err != nil {
			return err
		}
	}
	var broken []string
	for _, difference := range whatif.Compare(d.whole.Findings(was), d.whole.Findings(is)) {
		if difference.Breaks() {
			broken = append(broken, difference.AddOn+": "+condition.Message([]evaluation.Finding{*difference.After}, condition.MaxMessage))
		}
	}
	if len(broken) == 0 {
		return nil
	}
	return errors.New(strings.Join(broken, "\n"))
}
