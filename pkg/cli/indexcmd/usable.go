package indexcmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// checkUsable returns the errors that lint finds. A version in an index never changes, so a release that no hub can use would take it for
// good.
func checkUsable(objects []manifest.Object) error {
	return errorOf(append(manifest.Errors(objects), index.Findings(objects)...))
}

// warn reports what else lint finds.
func (o *options) warn(objects []manifest.Object) {
	findings := manifest.Warnings(objects)
	for i := range findings {
		finding := &findings[i]
		o.report([]string{fmt.Sprintf("%s: %s: warning: %s [%s]",
			location(finding), cmp.Or(text.Name(finding.AddOn), "it"), finding.Message, finding.Rule)})
	}
}

// location returns the file of a finding, with its line if it is known.
func location(finding *report.LintFinding) string {
	if finding.Line > 0 {
		return fmt.Sprintf("%s:%d", finding.Path, finding.Line)
	}
	return finding.Path
}

// checkStored is checkUsable for what a hub has stored. The hub may have fields that this version of Interlock does not know.
func checkStored(objects []manifest.Object) error {
	return errorOf(slices.DeleteFunc(manifest.Errors(objects), manifest.IsServers))
}

func errorOf(findings []report.LintFinding) error {
	var errs []error
	for i := range findings {
		finding := &findings[i]
		name := cmp.Or(text.Name(finding.AddOn), "it")
		errs = append(errs, fmt.Errorf("%s: %s cannot be used: %s [%s]", location(finding), name, text.OneLine(finding.Message), finding.Rule))
	}
	if errs != nil {
		errs = append(errs, errors.New("nothing was added: correct this, and check the files with kubectl addon lint"))
	}
	return errors.Join(errs...)
}
