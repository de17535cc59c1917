package graft

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestEveryMetricIsExplained(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	m.State("R", true)
	m.Contested()
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Error(err, problems)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetHelp() == "" || family.GetHelp() != Help[family.GetName()] {
			t.Errorf("%s: help %q, want %q", family.GetName(), family.GetHelp(), Help[family.GetName()])
		}
	}
	if len(families) != len(Help) {
		t.Errorf("%d metrics, %d are explained", len(families), len(Help))
	}
}

func TestTheStateOfTheCRDIsOneSeries(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := NewMetrics(registry)
	m.State("before", true)
	m.State("now", false)
	want := "# HELP " + NameGrafted + " " + Help[NameGrafted] + "\n# TYPE " + NameGrafted + " gauge\n" +
		NameGrafted + `{reason="now"} 0` + "\n"
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), NameGrafted); err != nil {
		t.Error(err)
	}
}
