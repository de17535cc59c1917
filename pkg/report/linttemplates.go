package report

import (
	"fmt"
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/pkg/text"
)

// DeclaredTemplate is an AddOnTemplate in a file that has a declaration. Line finds the line of a field.
type DeclaredTemplate struct {
	Path     string
	Template addonv1alpha1.AddOnTemplate
	Line     func(field string) int
}

// finding returns a judgement as a finding on the AddOnTemplate.
func (d *DeclaredTemplate) finding(judgement review.Judgement) LintFinding {
	finding := (&Declared{Path: d.Path, Line: d.Line}).finding(judgement)
	finding.AddOn = d.Template.Spec.AddonName
	return finding
}

// FindTemplateLint judges the declarations of AddOnTemplates in files, together with all registrations. Admission does not check
// AddOnTemplates, so FindTemplateLint applies its rules.
func FindTemplateLint(
	templates []DeclaredTemplate, registrations []addonv1alpha1.ClusterManagementAddOn, isLive bool,
) []LintFinding {
	objects := make([]addonv1alpha1.AddOnTemplate, 0, len(templates))
	for i := range templates {
		objects = append(objects, templates[i].Template)
	}
	changed, current := catalog.New(registrations, objects...), catalog.New(registrations)
	var findings []LintFinding
	for i := range templates {
		template := &templates[i]
		name, addOn := template.Template.Name, template.Template.Spec.AddonName
		_, decl, _ := changed.Template(name)
		problems := slices.Concat(changed.TemplateProblems(name), newCycles(changed, current, addOn))
		judgements := append(judgementsOf(problems), unsupported(&template.Template, registrations)...)
		judgements = slices.Concat(judgements, review.EveryVersion(decl), review.NoVersion(decl))
		for _, judgement := range append(judgements, review.Advise(decl)...) {
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

func judgementsOf(problems []declaration.Problem) []review.Judgement {
	var judgements []review.Judgement
	for _, problem := range problems {
		wrong := slices.Contains([]declaration.ProblemReason{
			declaration.ProblemInvalid, declaration.ProblemDuplicate, declaration.ProblemCycle, declaration.ProblemUndeclared,
		}, problem.Reason)
		judgements = append(judgements, review.Judgement{
			Rule: review.Rule(problem.Reason), Wrong: wrong, Field: problem.Field, Message: problem.Message,
		})
	}
	return judgements
}

// unsupported returns a judgement on a template of a registered add-on that is not deployed from AddOnTemplates.
func unsupported(template *addonv1alpha1.AddOnTemplate, registrations []addonv1alpha1.ClusterManagementAddOn) []review.Judgement {
	for i := range registrations {
		if addOn := &registrations[i]; addOn.Name == template.Spec.AddonName && !declaration.UsesTemplates(addOn) {
			return []review.Judgement{{
				Rule: RuleTemplateNotSupported, Field: "spec.addonName",
				Message: fmt.Sprintf("spec.addonName: %q does not support AddOnTemplates, so what this one declares counts nowhere; "+
					"add %s to spec.supportedConfigs of its ClusterManagementAddOn", text.Name(addOn.Name), declaration.Templates.Resource),
			}}
		}
	}
	return nil
}
