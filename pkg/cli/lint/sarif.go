package lint

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/version"
)

// home is where the rules are described.
const home = "https://github.com/open-cluster-management-io/interlock/blob/main/docs/reference.md#rules-of-lint"

// root is the base of relative paths in SARIF: the root of the repository.
const root = "%SRCROOT%"

// writeSARIF writes findings for code scanning, with paths relative to a folder.
func writeSARIF(out io.Writer, found *report.Lint, folder string) error {
	run := sarif.NewRunWithInformationURI("kubectl addon lint", home)
	run.Tool.Driver.WithVersion(version.Version)
	for _, rule := range report.LintRules {
		run.AddRule(string(rule.Name)).WithDescription(rule.Description).WithHelpURI(home).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(string(rule.Severity)))
	}
	for i := range found.Items {
		finding := &found.Items[i]
		where := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(uri(finding.Path, folder)).WithURIBaseID(root))
		if finding.Line > 0 {
			where.WithRegion(sarif.NewSimpleRegion(finding.Line, finding.Line))
		}
		run.CreateResultForRule(string(finding.Rule)).WithLevel(string(finding.Severity)).
			WithMessage(sarif.NewTextMessage(subject(finding) + finding.Message)).
			AddLocation(sarif.NewLocationWithPhysicalLocation(where))
	}
	log := sarif.NewReport().AddRun(run)
	if err := log.PrettyWrite(out); err != nil {
		return fmt.Errorf("write SARIF: %w", err)
	}
	_, err := fmt.Fprintln(out)
	return err
}

// uri is the path of a file relative to the folder, as a URI.
func uri(path, folder string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		if relative, err := filepath.Rel(folder, absolute); err == nil {
			path = relative
		}
	}
	return (&url.URL{Path: filepath.ToSlash(path)}).String()
}
