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

// DeclaredTemplate is an AddOnTemplate in a file that declares something. Line finds the line
// of a field.
type DeclaredTemplate struct {
	Path     string
	Template addonv1alpha1.AddOnTemplate
	Line     func(field string) int
}

// finding is a judgement on an AddOnTemplate in a file.
func (d *DeclaredTemplate) finding(judged review.Judgement) LintFinding {
	finding := (&Declared{Path: d.Path, Line: d.Line}).finding(judged)
	finding.AddOn = d.Template.Spec.AddonName
	return finding
}

// FindTemplateLint judges what AddOnTemplates in files declare, together with all
// registrations. Admission does not check them, so its rules are applied here.
func FindTemplateLint(all []DeclaredTemplate, registered []addonv1alpha1.ClusterManagementAddOn, isLive bool) (found []LintFinding) {
	templates := make([]addonv1alpha1.AddOnTemplate, 0, len(all))
	for i := range all {
		templates = append(templates, all[i].Template)
	}
	changed, current := catalog.New(registered, templates...), catalog.New(registered)
	for i := range all {
		template := &all[i]
		_, declared, _ := changed.Template(template.Template.Name)
		problems := slices.Concat(changed.TemplateProblems(template.Template.Name), closed(changed, current, template.Template.Spec.AddonName))
		judged := append(judgements(problems), unsupported(&template.Template, registered)...)
		judged = slices.Concat(judged, review.EveryVersion(declared), review.NoVersion(declared))
		for _, judgement := range append(judged, review.Advise(declared)...) {
			if !isLive {
				judgement.Message = strings.ReplaceAll(judgement.Message, "on this hub", "in these files")
			}
			found = append(found, template.finding(judgement))
		}
	}
	return found
}

// closed returns the cycles of an add-on that its AddOnTemplates close.
func closed(changed, current *catalog.Catalog, addOn string) []declaration.Problem {
	existing := current.Problems(addOn)
	problems := slices.DeleteFunc(changed.Problems(addOn), func(problem declaration.Problem) bool {
		return slices.Contains(existing, problem)
	})
	for i := range problems {
		problems[i].Field = declaration.TemplatePath.String()
	}
	return problems
}

func judgements(problems []declaration.Problem) (judged []review.Judgement) {
	for _, problem := range problems {
		wrong := slices.Contains([]declaration.ProblemReason{
			declaration.ProblemInvalid, declaration.ProblemDuplicate, declaration.ProblemCycle, declaration.ProblemUndeclared,
		}, problem.Reason)
		judged = append(judged, review.Judgement{Rule: review.Rule(problem.Reason), Wrong: wrong, Field: problem.Field, Message: problem.Message})
	}
	return judged
}

// unsupported judges a template of an add-on that is registered, and not deployed from AddOnTemplates.
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
