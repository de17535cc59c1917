package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	kjson "sigs.k8s.io/json"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// decodePolicy adds an AddOnDependencyPolicy, or its errors.
func (f *Files) decodePolicy(o object, origin place) {
	read := Policy{Path: origin.path}
	strictErrs, err := kjson.UnmarshalStrict(o.raw, &read.Policy, kjson.DisallowUnknownFields, kjson.DisallowDuplicateFields)
	var findings []report.LintFinding
	if err := cmp.Or(err, errors.Join(strictErrs...)); err != nil {
		findings = append(findings, broken(origin.path, origin.line(""), err))
	}
	for _, reason := range policy.Wrong(&read.Policy, time.Now()) {
		findings = append(findings, report.LintFinding{
			Path:     origin.path,
			Line:     origin.line(policy.OverridesPath.String()),
			Severity: report.SeverityError,
			Rule:     report.RuleInvalidPolicy,
			Message:  fmt.Sprintf("AddOnDependencyPolicy %q: %s", text.Name(read.Policy.Name), reason),
		})
	}
	if len(findings) == 0 {
		f.Policies = append(f.Policies, read)
	}
	f.Broken = append(f.Broken, findings...)
}
