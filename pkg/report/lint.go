package report

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/plan/review"
	"open-cluster-management.io/interlock/pkg/text"
)

// Lint has the findings on declarations in files.
type Lint struct {
	metav1.TypeMeta `json:",inline"`
	Items           []LintFinding `json:"items"`
}

// Severity is the severity of a finding.
type Severity string

// The severities. Admission denies an object with an error, apart from an UndeclaredDependency.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// LintFinding is a violation of a rule by a file.
type LintFinding struct {
	Path string `json:"path"`
	// Line is the line of the field in the file, from 1. It is 0 if the line is not known.
	Line int `json:"line,omitempty"`
	// AddOn is empty if its name is missing, or if the finding is about the whole file.
	AddOn    string      `json:"addOn"`
	Severity Severity    `json:"severity"`
	Rule     review.Rule `json:"rule"`
	// Field is the path of a field in the registration. It is empty if the finding is about the whole registration.
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// Declared is a ClusterManagementAddOn in a file. Wrong has the errors for which an API server refuses it, apart from errors of the
// declaration. Line finds the line of a field.
type Declared struct {
	Path  string
	AddOn addonv1alpha1.ClusterManagementAddOn
	Wrong []review.Judgement
	Line  func(field string) int
}

// finding returns a judgement as a finding on the registration.
func (d *Declared) finding(judgement review.Judgement) LintFinding {
	severity := SeverityWarning
	if judgement.Wrong {
		severity = SeverityError
	}
	return LintFinding{d.Path, d.Line(judgement.Field), d.AddOn.Name, severity, judgement.Rule, judgement.Field, judgement.Message}
}

// FindLint judges declarations in files as admission does, together with the registrations of a hub. It adds advice. isLive is
// whether there is a hub.
func FindLint(registrations []Declared, hub []addonv1alpha1.ClusterManagementAddOn, isLive bool) *Lint {
	lint := &Lint{TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "Lint"}, Items: []LintFinding{}}
	first := map[string]*Declared{}
	for i := range registrations {
		if name := registrations[i].AddOn.Name; first[name] == nil {
			first[name] = &registrations[i]
		}
	}
	others := Among(registrations, hub)
	var reviewer review.Reviewer
	for i := range registrations {
		registration := &registrations[i]
		name := registration.AddOn.Name
		judgements := slices.Concat(registration.Wrong, review.Name(name))
		if earlier := first[name]; name != "" && earlier != registration {
			judgements = append(judgements, registeredTwice(name, earlier))
		}
		judgements = append(judgements, reviewer.Review(&registration.AddOn, nil, others).Judgements...)
		judgements = append(judgements, review.UpgradesNotOrdered(&registration.AddOn)...)
		for _, judgement := range append(judgements, review.Advise(declaration.Read(&registration.AddOn))...) {
			if !isLive {
				judgement.Message = strings.ReplaceAll(judgement.Message, "on this hub", "in these files")
			}
			lint.Items = append(lint.Items, registration.finding(judgement))
		}
	}
	return lint
}

// Among returns the registrations in files, and the registrations of a hub that they do not replace.
func Among(files []Declared, hub []addonv1alpha1.ClusterManagementAddOn) []addonv1alpha1.ClusterManagementAddOn {
	registrations := make([]addonv1alpha1.ClusterManagementAddOn, 0, len(files)+len(hub))
	inFiles := map[string]bool{}
	for i := range files {
		registrations, inFiles[files[i].AddOn.Name] = append(registrations, files[i].AddOn), true
	}
	for i := range hub {
		if !inFiles[hub[i].Name] {
			registrations = append(registrations, hub[i])
		}
	}
	return registrations
}

func registeredTwice(name string, earlier *Declared) review.Judgement {
	location := text.OneLine(earlier.Path)
	if line := earlier.Line(""); line > 0 {
		location = fmt.Sprintf("%s:%d", location, line)
	}
	return review.Judgement{
		Rule: RuleRegisteredTwice, Wrong: true, Field: "metadata.name",
		Message: fmt.Sprintf("%s has a ClusterManagementAddOn %q too: the one that is applied last replaces the other",
			location, text.Name(name)),
	}
}
