package alerts

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// Added by the scrape to every series.
var fromScrape = []string{"namespace", "pod", "job", "instance"}

// check fails for each metric or label of the query that is not in known, and returns
// the labels that the result can have; nil: those of no metric.
func check(t *testing.T, where, query string, known map[string][]string) {
	t.Helper()
	expression, err := parser.ParseExpr(query)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	var used []string
	parser.Inspect(expression, func(node parser.Node, _ []parser.Node) error {
		selector, isSelector := node.(*parser.VectorSelector)
		if !isSelector {
			return nil
		}
		available, exists := known[selector.Name]
		if !exists {
			t.Errorf("%s uses %s, which is not exported", where, selector.Name)
			return nil
		}
		used = append(used, available...)
		for _, matcher := range selector.LabelMatchers {
			if matcher.Name != labels.MetricName && !slices.Contains(slices.Concat(available, fromScrape), matcher.Name) {
				t.Errorf("%s: %s has no label %s", where, selector.Name, matcher.Name)
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
			if !slices.Contains(slices.Concat(used, fromScrape), label) {
				t.Errorf("%s: no metric in it has the label %s", where, label)
			}
		}
		return nil
	})
}

// withRecorded adds what the recording rules export.
func withRecorded(t *testing.T, known map[string][]string) map[string][]string {
	t.Helper()
	known["interlock:root_causes:share"] = []string{"addon", "verdict"}
	known["interlock:unsatisfied_optional_dependencies:share"] = []string{"addon", "dependency"}
	return known
}

var queried = regexp.MustCompile(`printf "([^"]*)"`)

func TestRulesUseWhatIsExported(t *testing.T) {
	known := withRecorded(t, exported(t))
	_, groups := ruleFile(t)
	recorded := 0
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			check(t, rule.Record+rule.Alert, rule.Expr, known)
			if rule.Record != "" {
				recorded++
				if known[rule.Record] == nil {
					t.Errorf("%s: name its labels in this test", rule.Record)
				}
			}
			for _, text := range rule.Annotations {
				for _, match := range queried.FindAllStringSubmatch(text, -1) {
					check(t, rule.Alert, strings.ReplaceAll(match[1], "%q", `"x"`), known)
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
	known := exported(t)
	checked := 0
	var visit func([]panel)
	visit = func(panels []panel) {
		for _, p := range panels {
			if p.Type != "row" && (p.Title == "" || p.Description == "" || len(p.Targets) == 0) {
				t.Errorf("panel %q has no title, description or query", p.Title)
			}
			for _, target := range p.Targets {
				query := variable.ReplaceAllString(intervals.Replace(target.Expr), "x")
				check(t, p.Title, query, known)
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
		if !slices.Contains(known[metric], label) {
			t.Errorf("variable %s: no label %q of %q", v.Name, label, metric)
		}
	}
	if checked < 10 {
		t.Errorf("only %d queries", checked)
	}
}
