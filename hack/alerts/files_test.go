package alerts

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"sigs.k8s.io/yaml"
)

const root = "../.."

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// ruleFile writes the rules to a file for Prometheus, and returns its path.
func ruleFile(t *testing.T) (path string, groups *rulefmt.RuleGroups) {
	t.Helper()
	var object struct {
		Spec json.RawMessage `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "deploy/alerts/prometheusrule.yaml")), &object); err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(object.Spec, false, model.LegacyValidation)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	path = filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, object.Spec, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, groups
}

// panel is the part of a panel of a dashboard that is checked.
type panel struct {
	Title       string
	Description string
	Type        string
	GridPos     struct{ X, Y, W, H int }
	FieldConfig struct {
		Defaults struct {
			NoValue  string
			Mappings []struct{ Options json.RawMessage }
		}
	}
	Targets []struct {
		Expr, LegendFormat string
	}
	Panels []panel
}

type dashboard struct {
	UID        string
	Panels     []panel
	Templating struct {
		List []struct{ Name, Type, Query string }
	}
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	var d dashboard
	if err := json.Unmarshal([]byte(read(t, "deploy/dashboard/interlock.json")), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

var (
	row  = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|([^|]*)\\| ")
	code = regexp.MustCompile("`([a-z_]+)`")
)

// exported returns the labels of the metrics in docs/reference.md. A test of docs compares
// them with the code.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	_, section, ok := strings.Cut(read(t, "docs/reference.md"), "\n## Metrics\n")
	section, _, _ = strings.Cut(section, "\n## ")
	metrics := map[string][]string{}
	for _, match := range row.FindAllStringSubmatch(section, -1) {
		labels := []string{}
		for _, label := range code.FindAllStringSubmatch(match[2], -1) {
			labels = append(labels, label[1])
		}
		if strings.HasSuffix(match[1], "_duration_seconds") {
			metrics[match[1]+"_sum"], metrics[match[1]+"_count"] = labels, labels
			metrics[match[1]+"_bucket"] = append(labels[:len(labels):len(labels)], "le")
			continue
		}
		metrics[match[1]] = labels
	}
	if !ok || len(metrics) < 20 {
		t.Fatalf("docs/reference.md has metrics %v", metrics)
	}
	return metrics
}
