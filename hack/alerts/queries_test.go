package alerts

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// The labels that the scrape adds to every series.
var scrapeLabels = []string{"namespace", "pod", "job", "instance"}

// check fails for each metric or label of the query that metrics does not have.
func check(t *testing.T, place, query string, metrics map[string][]string) {
	t.Helper()
	expression, err := parser.ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %v", place, err)
		return
	}
	var used []string
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		selector, ok := node.(*parser.VectorSelector)
		if !ok {
			return nil
		}
		available, ok := metrics[selector.Name]
		if !ok {
			t.Errorf("%s uses %s, which is not exported", place, selector.Name)
			return nil
		}
		used = append(used, available...)
		for _, matcher := range selector.LabelMatchers {
			if matcher.Name != labels.MetricName && !slices.Contains(slices.Concat(available, scrapeLabels), matcher.Name) {
				t.Errorf("%s: %s has no label %s", place, selector.Name, matcher.Name)
			}
		}
		return nil
	})
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		var named []string
		switch n := node.(type) {
		case *parser.AggregateExpr:
			named = n.Grouping
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				named = append(n.VectorMatching.MatchingLabels, n.VectorMatching.Include...)
			}
		}
		for _, label := range named {
			if !slices.Contains(slices.Concat(used, scrapeLabels), label) {
				t.Errorf("%s: no metric in it has the label %s", place, label)
			}
		}
		return nil
	})
}

// withRecorded adds the metrics of the recording rules.
func withRecorded(t *testing.T, metrics map[string][]string) map[string][]string {
	t.Helper()
	metrics["interlock:root_causes:share"] = []string{"addon", "verdict"}
	metrics["interlock:unsatisfied_optional_dependencies:share"] = []string{"addon", "dependency"}
	return metrics
}

var queryCall = regexp.MustCompile(`printf "([^"]*)"`)

func TestRulesUseWhatIsExported(t *testing.T) {
	metrics := withRecorded(t, exported(t))
	_, groups := ruleFile(t)
	recorded := 0
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			check(t, rule.Record+rule.Alert, rule.Expr, metrics)
			if rule.Record != "" {
				recorded++
				if metrics[rule.Record] == nil {
					t.Errorf("%s: name its labels in this test", rule.Record)
				}
			}
			for _, text := range rule.Annotations {
				for _, match := range queryCall.FindAllStringSubmatch(text, -1) {
					check(t, rule.Alert, strings.ReplaceAll(match[1], "%q", `"x"`), metrics)
				}
			}
		}
	}
	if recorded != 2 {
		t.Errorf("%d recording rules", recorded)
	}
}

var intervals = strings.NewReplacer("$__rate_interval", "5m", "$__range", "6h")

var variable = regexp.MustCompile(`\$(\w+|\{[^}]*\})`)

func TestTheDashboardUsesWhatIsExported(t *testing.T) {
	metrics := exported(t)
	checked := 0
	var visit func([]panel)
	visit = func(panels []panel) {
		for _, p := range panels {
			if p.Type != "row" && (p.Title == "" || p.Description == "" || len(p.Targets) == 0) {
				t.Errorf("panel %q has no title, description or query", p.Title)
			}
			for _, target := range p.Targets {
				query := variable.ReplaceAllString(intervals.Replace(target.Expr), "x")
				check(t, p.Title, query, metrics)
				checked++
			}
			visit(p.Panels)
		}
	}
	d := readDashboard(t)
	visit(d.Panels)
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		metric, label, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(v.Query, "label_values("), ")"), ", ")
		if !slices.Contains(metrics[metric], label) {
			t.Errorf("variable %s: no label %q of %q", v.Name, label, metric)
		}
	}
	if checked < 10 {
		t.Errorf("only %d queries", checked)
	}
}
