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

// rulesPage is the page that describes the rules.
const rulesPage = "https://github.com/open-cluster-management-io/interlock/blob/main/docs/reference.md#rules-of-lint"

// root is the base of relative paths in SARIF: the root of the repository.
const root = "%SRCROOT%"

// writeSARIF writes findings for code scanning, with paths relative to a folder.
func writeSARIF(out io.Writer, result *report.Lint, folder string) error {
	run := sarif.NewRunWithInformationURI("kubectl addon lint", rulesPage)
	run.Tool.Driver.WithVersion(version.Version)
	for _, rule := range report.LintRules {
		run.AddRule(string(rule.Name)).WithDescription(rule.Description).WithHelpURI(rulesPage).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(string(rule.Severity)))
	}
	for i := range result.Items {
		finding := &result.Items[i]
		artifact := sarif.NewSimpleArtifactLocation(uri(finding.Path, folder)).WithURIBaseID(root)
		location := sarif.NewPhysicalLocation().WithArtifactLocation(artifact)
		if finding.Line > 0 {
			location.WithRegion(sarif.NewSimpleRegion(finding.Line, finding.Line))
		}
		run.CreateResultForRule(string(finding.Rule)).WithLevel(string(finding.Severity)).
			WithMessage(sarif.NewTextMessage(subject(finding) + finding.Message)).
			AddLocation(sarif.NewLocationWithPhysicalLocation(location))
	}
	log := sarif.NewReport().AddRun(run)
	if err := log.PrettyWrite(out); err != nil {
		return fmt.Errorf("write SARIF: %w", err)
	}
	_, err := fmt.Fprintln(out)
	return err
}

// uri returns the path of a file relative to the folder, as a URI.
func uri(path, folder string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		if relative, err := filepath.Rel(folder, absolute); err == nil {
			path = relative
		}
	}
	return (&url.URL{Path: filepath.ToSlash(path)}).String()
}
