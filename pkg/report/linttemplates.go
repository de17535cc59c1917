package report

import (
	"fmt"
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/review"
	"open-cluster-management.io/interlock/pkg/text"
)

// DeclaredTemplate is an AddOnTemplate in a file that has a declaration. Line finds the line of a field.
type DeclaredTemplate struct {
	Path     string
	Template addonv1alpha1.AddOnTemplate
	Line     func(field string) int
}

// finding returns a judgement as a finding on the AddOnTemplate.
func (d *DeclaredTemplate) finding(judged review.Judgement) LintFinding {
	finding := (&Declared{Path: d.Path, Line: d.Line}).finding(judged)
	finding.AddOn = d.Template.Spec.AddonName
	return finding
}

// FindTemplateLint judges the declarations of AddOnTemplates in files, together with all registrations. Admission does not check
// AddOnTemplates, so FindTemplateLint applies its rules.
func FindTemplateLint(declared []DeclaredTemplate, registered []addonv1alpha1.ClusterManagementAddOn, isLive bool) []LintFinding {
	templates := make([]addonv1alpha1.AddOnTemplate, 0, len(declared))
	for i := range declared {
		templates = append(templates, declared[i].Template)
	}
	changed, current := catalog.New(registered, templates...), catalog.New(registered)
	var findings []LintFinding
	for i := range declared {
		template := &declared[i]
		_, parsed, _ := changed.Template(template.Template.Name)
		problems := slices.Concat(changed.TemplateProblems(template.Template.Name), newCycles(changed, current, template.Template.Spec.AddonName))
		judged := append(judgements(problems), unsupported(&template.Template, registered)...)
		judged = slices.Concat(judged, review.EveryVersion(parsed), review.NoVersion(parsed))
		for _, judgement := range append(judged, review.Advise(parsed)...) {
			if !isLive {
				judgement.Message = strings.ReplaceAll(judgement.Message, "on this hub", "in these files")
			}
			findings = append(findings, template.finding(judgement))
		}
	}
	return findings
}

// newCycles returns the cycles of an add-on that its AddOnTemplates close.
func newCycles(changed, current *catalog.Catalog, addOn string) []declaration.Problem {
	existing := current.Problems(addOn)
	problems := slices.DeleteFunc(changed.Problems(addOn), func(problem declaration.Problem) bool {
		return slices.Contains(existing, problem)
	})
	for i := range problems {
		problems[i].Field = declaration.TemplatePath.String()
	}
	return problems
}

func judgements(problems []declaration.Problem) []review.Judgement {
	var judged []review.Judgement
	for _, problem := range problems {
		wrong := slices.Contains([]declaration.ProblemReason{
			declaration.ProblemInvalid, declaration.ProblemDuplicate, declaration.ProblemCycle, declaration.ProblemUndeclared,
		}, problem.Reason)
		judged = append(judged, review.Judgement{Rule: review.Rule(problem.Reason), Wrong: wrong, Field: problem.Field, Message: problem.Message})
	}
	return judged
}

// unsupported returns a judgement on a template of a registered add-on that is not deployed from AddOnTemplates.
func unsupported(template *addonv1alpha1.AddOnTemplate, registered []addonv1alpha1.ClusterManagementAddOn) []review.Judgement {
	for i := range registered {
		if addOn := &registered[i]; addOn.Name == template.Spec.AddonName && !declaration.UsesTemplates(addOn) {
			return []review.Judgement{{
				Rule: RuleTemplateNotSupported, Field: "spec.addonName",
				Message: fmt.Sprintf("spec.addonName: %q does not support AddOnTemplates, so what this one declares counts nowhere; "+
					"add %s to spec.supportedConfigs of its ClusterManagementAddOn", text.Name(addOn.Name), declaration.Templates.Resource),
			}}
		}
	}
	return nil
}
