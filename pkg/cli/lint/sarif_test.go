package lint

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"open-cluster-management.io/interlock/pkg/report"
)

func TestSARIF(t *testing.T) {
	folder := t.TempDir()
	lint := &report.Lint{Items: []report.LintFinding{
		{
			Path:     filepath.Join(folder, "deploy", "a b.yaml"),
			Line:     7,
			AddOn:    "a",
			Severity: report.SeverityError,
			Rule:     report.RuleUnknownField,
			Message:  "m",
		},
		{Path: filepath.Join(folder, "c.json"), AddOn: "c", Severity: report.SeverityWarning, Rule: "NoMessage", Message: "n"},
	}}
	var out bytes.Buffer
	if err := writeSARIF(&out, lint, folder); err != nil {
		t.Fatal(err)
	}
	log, err := sarif.FromBytes(out.Bytes(), sarif.WithStrictValidation())
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Validate(); err != nil { // by the schema of 2.1.0
		t.Error(err)
	}
	var read struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct{ Rules []struct{ ID string } }
			}
			Results []struct {
				RuleID, Level string
				RuleIndex     int
				Locations     []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI, URIBaseID string }
						Region           struct{ StartLine int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(out.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	run := read.Runs[0]
	if read.Version != "2.1.0" || len(run.Results) != 2 || len(run.Tool.Driver.Rules) != len(report.LintRules) {
		t.Fatal(out.String())
	}
	for i, want := range []struct {
		uri, level string
		line       int
	}{{"deploy/a%20b.yaml", "error", 7}, {"c.json", "warning", 0}} {
		result, location := run.Results[i], run.Results[i].Locations[0].PhysicalLocation
		if location.ArtifactLocation.URI != want.uri || location.ArtifactLocation.URIBaseID != root {
			t.Errorf("its file: %+v", location)
		}
		if location.Region.StartLine != want.line || result.Level != want.level {
			t.Errorf("%+v", result)
		}
		if result.RuleID != string(lint.Items[i].Rule) || run.Tool.Driver.Rules[result.RuleIndex].ID != result.RuleID {
			t.Errorf("the rule of %+v", result)
		}
	}
}
