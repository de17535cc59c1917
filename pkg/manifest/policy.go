package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	kjson "sigs.k8s.io/json"

	"open-cluster-management.io/interlock/pkg/dependency/policy"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// decodePolicy adds an AddOnDependencyPolicy, or what is wrong with it.
func (f *Files) decodePolicy(one object, at place) {
	read := Policy{Path: at.path}
	unknown, err := kjson.UnmarshalStrict(one.raw, &read.Policy, kjson.DisallowUnknownFields, kjson.DisallowDuplicateFields)
	var wrong []report.LintFinding
	if err := cmp.Or(err, errors.Join(unknown...)); err != nil {
		wrong = append(wrong, broken(at.path, at.line(""), err))
	}
	for _, because := range policy.Wrong(&read.Policy, time.Now()) {
		wrong = append(wrong, report.LintFinding{
			Path: at.path, Line: at.line(policy.OverridesPath.String()), Severity: report.SeverityError, Rule: report.RuleInvalidPolicy,
			Message: fmt.Sprintf("AddOnDependencyPolicy %q: %s", text.Name(read.Policy.Name), because),
		})
	}
	if len(wrong) == 0 {
		f.Policies = append(f.Policies, read)
	}
	f.Broken = append(f.Broken, wrong...)
}
