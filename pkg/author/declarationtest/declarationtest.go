// Package declarationtest is for authors of add-ons. Their tests evaluate the declaration of an add-on on managed clusters that
// they imagine, by the rules of addon-manager: other versions of Kubernetes, of Open Cluster Management and of the add-ons there.
// It needs no hub and no cluster.
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
	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/report"
)

// Declarations are the declarations of all add-ons on an imagined hub.
type Declarations struct {
	evaluator  *evaluation.Evaluator
	evaluation *whatif.Evaluation
	// templates are the versions of AddOnTemplates by their names.
	templates map[string]string
}

// Read reads the ClusterManagementAddOns in files, and in all YAML and JSON files of folders, and the AddOnTemplates that declare
// dependencies. It ignores other objects there. Its error names the file, the line and the field that cannot be read, or that
// admission would deny.
func Read(paths ...string) (*Declarations, error) {
	files, err := manifest.Read(paths, strings.NewReader(""))
	if err := errors.Join(err, files.Err()); err != nil {
		return nil, err
	}
	for _, problem := range files.Lint(nil, false).Items {
		if problem.Severity == report.SeverityError {
			return nil, fmt.Errorf("%s:%d: %s: %s", problem.Path, problem.Line, problem.AddOn, problem.Message)
		}
	}
	templates := make([]addonv1alpha1.AddOnTemplate, 0, len(files.Templates))
	for _, template := range files.Templates {
		templates = append(templates, template.Template)
	}
	return New(report.Among(files.Declared(), nil), templates...), nil
}

// New is for add-ons that are declared in Go. A declaration that admission would deny is evaluated as if it were stored already.
func New(addOns []addonv1alpha1.ClusterManagementAddOn, templates ...addonv1alpha1.AddOnTemplate) *Declarations {
	evaluator := evaluation.New(catalog.NewPartial(addOns, templates...))
	d := &Declarations{evaluator, whatif.New(evaluator), make(map[string]string, len(templates))}
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

// Findings returns a finding for each dependency of the named add-on on the cluster, in the order declared, and then for each
// requirement, once all conditions there have followed. The add-on is imagined to be installed, whether or not the cluster lists
// it. It returns an error if the add-on is not declared, if addon-manager does not use the declaration, or if a value of the
// cluster cannot be used.
func (d *Declarations) Findings(addOn string, cluster Cluster) ([]evaluation.Finding, error) {
	if !d.evaluator.Registered(addOn) {
		return nil, fmt.Errorf("add-on %q has no ClusterManagementAddOn among those that were read: %s",
			addOn, strings.Join(d.evaluator.AddOns(), ", "))
	}
	if !slices.ContainsFunc(cluster.AddOns, func(installed AddOn) bool { return installed.Name == addOn }) {
		cluster.AddOns = append(slices.Clone(cluster.AddOns), AddOn{Name: addOn})
	}
	imagined, err := d.imagine(cluster)
	if err != nil {
		return nil, err
	}
	if err := d.unusable(addOn, imagined); err != nil {
		return nil, err
	}
	return d.evaluation.Findings(imagined)[addOn], nil
}

// unusable returns the problems of the declaration that counts on the cluster, if addon-manager does not use it.
func (d *Declarations) unusable(addOn string, cluster whatif.Cluster) error {
	observe := func(name string) evaluation.Observation { return cluster.AddOns[name] }
	declaration, problems, object := d.evaluator.Declaration(addOn), d.evaluator.Problems, addOn
	if template := d.evaluator.Variant(addOn, d.evaluator.State(addOn, cluster.Cluster, observe)); template != "" {
		_, declaration, _ = d.evaluator.Template(template)
		problems, object = d.evaluator.TemplateProblems, template
	}
	if !declaration.Invalid {
		return nil
	}
	var messages []string
	for _, problem := range problems(object) {
		messages = append(messages, problem.Message)
	}
	return fmt.Errorf("the declaration of add-on %q is not used: %s", addOn, strings.Join(messages, "; "))
}

// Check returns an error with the message of the condition Degraded that addon-manager would set on the add-on. It is nil if all of
// its dependencies and requirements are satisfied. Optional ones count too. It returns the errors of Findings as well.
func (d *Declarations) Check(addOn string, cluster Cluster) error {
	findings, err := d.Findings(addOn, cluster)
	if err != nil {
		return err
	}
	if message := condition.Message(findings, condition.MaxMessage); message != "" {
		return errors.New(message)
	}
	return nil
}

// CheckChange returns an error that names the dependencies and requirements that the change would break, of all add-ons that are
// installed on the cluster afterwards: they are unsatisfied after it, and were not before. It is nil if the change breaks nothing.
// It returns the errors of Findings as well.
func (d *Declarations) CheckChange(before, after Cluster) error {
	clusterBefore, err := d.imagine(before)
	if err != nil {
		return fmt.Errorf("before: %w", err)
	}
	clusterAfter, err := d.imagine(after)
	if err != nil {
		return fmt.Errorf("after: %w", err)
	}
	for _, addOn := range slices.Sorted(maps.Keys(clusterAfter.AddOns)) {
		if err := d.unusable(addOn, clusterAfter); err != nil {
			return err
		}
	}
	var broken []string
	for _, difference := range whatif.Compare(d.evaluation.Findings(clusterBefore), d.evaluation.Findings(clusterAfter)) {
		if difference.Breaks() {
			broken = append(broken, difference.AddOn+": "+condition.Message([]evaluation.Finding{*difference.After}, condition.MaxMessage))
		}
	}
	if len(broken) == 0 {
		return nil
	}
	return errors.New(strings.Join(broken, "\n"))
}
