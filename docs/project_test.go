package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// SECURITY-INSIGHTS.yml is for programs, which cannot find out that a file is missing.
func TestTheFilesOfSecurityInsightsExist(t *testing.T) {
	content := read(t, "SECURITY-INSIGHTS.yml")
	var insights struct {
		Header struct {
			SchemaVersion string `json:"schema-version"`
		}
	}
	if err := yaml.Unmarshal([]byte(content), &insights); err != nil || !strings.HasPrefix(insights.Header.SchemaVersion, "2.") {
		t.Errorf("schema version %q (%v)", insights.Header.SchemaVersion, err)
	}
	files := regexp.MustCompile(`(?m)[ \[]([A-Za-z./-]+\.(?:md|yml)|LICENSE)\]?$`).FindAllStringSubmatch(content, -1)
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(root, file[1])); err != nil {
			t.Errorf("SECURITY-INSIGHTS.yml names a file that is missing: %v", err)
		}
	}
	if len(files) < 8 {
		t.Errorf("only the files %q", files)
	}
}

func TestIssueFormsHaveWhatGitHubRequires(t *testing.T) {
	forms, err := filepath.Glob(filepath.Join(root, ".github/ISSUE_TEMPLATE/*.yml"))
	if err != nil || len(forms) < 3 {
		t.Fatalf("forms %q (%v)", forms, err)
	}
	for _, path := range forms {
		if filepath.Base(path) == "config.yml" {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var form struct {
			Name, Description string
			Labels            []string
			Body              []struct {
				Type, ID    string
				Attributes  map[string]any
				Validations map[string]bool
			}
		}
		if err := yaml.UnmarshalStrict(content, &form); err != nil || form.Name == "" || form.Description == "" || len(form.Body) == 0 {
			t.Errorf("%s: %+v (%v)", path, form, err)
		}
		ids := map[string]bool{}
		for _, element := range form.Body {
			if element.Type == "markdown" {
				continue
			}
			if element.ID == "" || ids[element.ID] || element.Attributes["label"] == nil {
				t.Errorf("%s: the element %+v has no id of its own, or no label", path, element)
			}
			ids[element.ID] = true
		}
	}
}
