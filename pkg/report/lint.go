package report

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/review"
	"open-cluster-management.io/interlock/pkg/text"
)

// Lint is what is wrong with declarations in files.
type Lint struct {
	metav1.TypeMeta `json:",inline"`
	Items           []LintFinding `json:"items"`
}

// Severity is how bad a finding is.
type Severity string

// The severities. Admission denies what has an error, apart from an UndeclaredDependency.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// LintFinding is one thing that is wrong.
type LintFinding struct {
	Path string `json:"path"`
	// Line is that of the field in the file, from 1; 0 where it is not known.
	Line int `json:"line,omitempty"`
	// AddOn is empty where its name is missing, or where the whole file is to blame.
	AddOn    string      `json:"addOn"`
	Severity Severity    `json:"severity"`
	Rule     review.Rule `json:"rule"`
	// Field is its path in the registration, where one field is to blame.
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// Declared is a registration in a file. Wrong has what an API server refuses, apart from the
// declaration, and Line finds the line of a field.
type Declared struct {
	Path  string
	AddOn addonv1alpha1.ClusterManagementAddOn
	Wrong []review.Judgement
	Line  func(field string) int
}

// finding is a judgement on a registration in a file.
func (d *Declared) finding(judged review.Judgement) LintFinding {
	severity := SeverityWarning
	if judged.Wrong {
		severity = SeverityError
	}
	return LintFinding{d.Path, d.Line(judged.Field), d.AddOn.Name, severity, judged.Rule, judged.Field, judged.Message}
}

// FindLint judges declarations as admission does, together with those of a hub, if any, and
// adds advice.
func FindLint(all []Declared, hub []addonv1alpha1.ClusterManagementAddOn, isLive bool) *Lint {
	lint := &Lint{TypeMeta: metav1.TypeMeta{APIVersion: APIVersion, Kind: "Lint"}, Items: []LintFinding{}}
	first := map[string]*Declared{}
	for i := range all {
		if name := all[i].AddOn.Name; first[name] == nil {
			first[name] = &all[i]
		}
	}
	others := Among(all, hub)
	var reviewer review.Reviewer
	for i := range all {
		registration := &all[i]
		name := registration.AddOn.Name
		judged := slices.Concat(registration.Wrong, review.Name(name))
		if earlier := first[name]; name != "" && earlier != registration {
			judged = append(judged, registeredTwice(name, earlier))
		}
		judged = append(judged, reviewer.Review(&registration.AddOn, nil, others).Judgements...)
		judged = append(judged, review.UpgradesNotOrdered(&registration.AddOn)...)
		for _, judgement := range append(judged, review.Advise(declaration.Read(&registration.AddOn))...) {
			if !isLive {
				judgement.Message = strings.ReplaceAll(judgement.Message, "on this hub", "in these files")
			}
			lint.Items = append(lint.Items, registration.finding(judgement))
		}
	}
	return lint
}

// Among returns the registrations in files, and the registrations of a hub that they do not replace.
func Among(declared []Declared, hub []addonv1alpha1.ClusterManagementAddOn) []addonv1alpha1.ClusterManagementAddOn {
	registered := make([]addonv1alpha1.ClusterManagementAddOn, 0, len(declared)+len(hub))
	inFiles := map[string]bool{}
	for i := range declared {
		registered, inFiles[declared[i].AddOn.Name] = append(registered, declared[i].AddOn), true
	}
	for i := range hub {
		if !inFiles[hub[i].Name] {
			registered = append(registered, hub[i])
		}
	}
	return registered
}

func registeredTwice(name string, earlier *Declared) review.Judgement {
	location := text.OneLine(earlier.Path)
	if line := earlier.Line(""); line > 0 {
		location = fmt.Sprintf("%s:%d", location, line)
	}
	return review.Judgement{
		Rule: RuleRegisteredTwice, Wrong: true, Field: "metadata.name",
		Message: fmt.Sprintf("%s has a ClusterManagementAddOn %q too: the one that is applied last replaces the other", location, text.Name(name)),
	}
}
