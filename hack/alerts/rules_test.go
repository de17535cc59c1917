package alerts

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
)

// healthyHub has the series of a hub without alerts. They have one sample a minute.
var healthyHub = map[string]string{
	`interlock_build_info{component="addon-manager",version="1.0.0",pod="a"}`:  "1",
	`interlock_build_info{component="addon-manager",version="1.0.0",pod="b"}`:  "1",
	`interlock_build_info{component="webhook",version="1.0.0"}`:                "1",
	`leader_election_master_status{name="interlock-addon-manager",pod="a"}`:    "1",
	`leader_election_master_status{name="interlock-addon-manager",pod="b"}`:    "0",
	`interlock_guard{form="policy"}`:                                           "1",
	`interlock_crd_grafted{reason="CRDGrafted"}`:                               "1",
	`interlock_declarations_lost`:                                              "0",
	`interlock_requiring_clusters{addon="proxy"}`:                              "100",
	`interlock_requiring_clusters{addon="work"}`:                               "10",
	`interlock_dependencies{addon="app",dependency="proxy",type="Required"}`:   "100",
	`interlock_dependencies{addon="app",dependency="log",type="Optional"}`:     "100",
	`interlock_condition_writes_total{result="success"}`:                       "0+60x180",
	`interlock_facts_clusters{standing="answered"}`:                            "95",
	`interlock_facts_clusters{standing="waiting"}`:                             "5",
	`interlock_silent_agents`:                                                  "5",
	`interlock_contested_conditions_total{addon="app"}`:                        "1",
	`interlock_crd_graft_contested_total`:                                      "1",
	`interlock_reaction_duration_seconds_bucket{reaction="noticed",le="1"}`:    "0+9x180",
	`interlock_reaction_duration_seconds_bucket{reaction="noticed",le="300"}`:  "0+9x180",
	`interlock_reaction_duration_seconds_bucket{reaction="noticed",le="+Inf"}`: "0+9x180",
}

// noSeries is the value of a series that does not exist.
const noSeries = "gone"

var alertCases = map[string]struct {
	change map[string]string // changes of healthyHub
	minute int
	want   []string // name of the alert and values of its labels, without severity
}{
	"all is well": {nil, 120, nil},
	"one cause on many clusters, and 400 victims": {map[string]string{
		`interlock_root_causes{addon="proxy",verdict="NotAvailable"}`:                                               "20",
		`interlock_root_cause_victims{addon="proxy"}`:                                                               "400",
		`interlock_unsatisfied_dependencies{addon="app",dependency="proxy",type="Required",verdict="NotAvailable"}`: "20",
	}, 60, []string{"InterlockRootCauseOnManyClusters proxy NotAvailable"}},
	"not yet": {map[string]string{`interlock_root_causes{addon="proxy",verdict="NotAvailable"}`: "20"}, 3, nil},
	"one cause on few clusters": {map[string]string{
		`interlock_root_causes{addon="proxy",verdict="NotInstalled"}`: "10",
		`interlock_root_cause_victims{addon="proxy"}`:                 "10",
	}, 60, []string{"InterlockRootCause proxy NotInstalled"}},
	"a large share of a small fleet": {
		map[string]string{`interlock_root_causes{addon="work",verdict="Cycle"}`: "2"}, 60, []string{"InterlockRootCause work Cycle"},
	},
	"while replicas take turns": {map[string]string{
		`interlock_root_causes{addon="proxy",verdict="NotAvailable",pod="a"}`: "20",
		`interlock_root_causes{addon="proxy",verdict="NotAvailable",pod="b"}`: "20",
	}, 60, []string{"InterlockRootCauseOnManyClusters proxy NotAvailable"}},
	"an Optional dependency": {map[string]string{
		`interlock_unsatisfied_dependencies{addon="app",dependency="log",type="Optional",verdict="NotInstalled"}`: "50",
	}, 90, []string{"InterlockOptionalDependencyFails app log"}},
	"an Optional dependency, on lost clusters": {map[string]string{
		`interlock_unsatisfied_dependencies{addon="app",dependency="log",type="Optional",verdict="NotInstalled"}`: "50",
		`interlock_held_dependencies{addon="app",dependency="log",type="Optional",verdict="NotInstalled"}`:        "40",
	}, 90, nil},
	"a Required dependency on lost clusters, which are no root causes": {map[string]string{
		`interlock_unsatisfied_dependencies{addon="app",dependency="proxy",type="Required",verdict="NotInstalled"}`: "50",
		`interlock_held_dependencies{addon="app",dependency="proxy",type="Required",verdict="NotInstalled"}`:        "50",
	}, 90, nil},
	"most clusters are lost": {map[string]string{
		`interlock_held_dependencies{addon="app",dependency="proxy",type="Required",verdict="Satisfied"}`: "70",
		`interlock_held_dependencies{addon="app",dependency="log",type="Optional",verdict="Satisfied"}`:   "70",
	}, 60, []string{"InterlockVerdictsHeld"}},
	"a declaration that cannot be used": {map[string]string{
		`interlock_declaration_problems{addon="app",problem="InvalidDependencies"}`:     "2",
		`interlock_declaration_problems{addon="app",problem="DependencyNotRegistered"}`: "1",
	}, 10, []string{"InterlockDeclarationUnusable app InvalidDependencies"}},
	"addon-manager is gone": {map[string]string{
		`interlock_build_info{component="addon-manager",version="1.0.0",pod="a"}`: noSeries,
		`interlock_build_info{component="addon-manager",version="1.0.0",pod="b"}`: noSeries,
		`leader_election_master_status{name="interlock-addon-manager",pod="a"}`:   noSeries,
		`leader_election_master_status{name="interlock-addon-manager",pod="b"}`:   noSeries,
	}, 10, []string{"InterlockDown addon-manager"}},
	"no leader": {
		map[string]string{`leader_election_master_status{name="interlock-addon-manager",pod="a"}`: "0"}, 10, []string{"InterlockNoLeader"},
	},
	"no webhook": {
		map[string]string{`interlock_build_info{component="webhook",version="1.0.0"}`: noSeries}, 10, []string{"InterlockWebhookDown webhook"},
	},
	"slow": {
		map[string]string{`interlock_reaction_duration_seconds_bucket{reaction="noticed",le="1"}`: "0+1x180"},
		60,
		[]string{"InterlockSlow noticed"},
	},
	"writes fail": {
		map[string]string{`interlock_condition_writes_total{result="error"}`: "0+20x180"}, 60, []string{"InterlockWritesFail"},
	},
	"another writer of Degraded": {
		map[string]string{`interlock_contested_conditions_total{addon="app"}`: "0+1x180"}, 60, []string{"InterlockConditionContested app"},
	},
	"agents are silent": {map[string]string{`interlock_silent_agents`: "20"}, 60, []string{"InterlockAgentsSilent"}},
	"no guard": {map[string]string{
		`interlock_guard{form="policy"}`: noSeries, `interlock_guard{form="none"}`: "1",
	}, 60, []string{"InterlockGuardNotInForce"}},
	"not grafted": {map[string]string{
		`interlock_crd_grafted{reason="CRDGrafted"}`: noSeries, `interlock_crd_grafted{reason="CRDGraftContested"}`: "0",
	}, 60, []string{"InterlockCRDNotGrafted CRDGraftContested"}},
	"grafting is off": {map[string]string{
		`interlock_crd_grafted{reason="CRDGrafted"}`: noSeries, `interlock_crd_grafted{reason="CRDGraftingOff"}`: "0",
	}, 60, nil},
	"conversion is not served": {map[string]string{
		`interlock_crd_grafted{reason="CRDGrafted"}`: noSeries, `interlock_crd_grafted{reason="CRDConversionNotServed"}`: "1",
	}, 3, []string{"InterlockConversionNotServed"}},
	"conversion is not served, and the CRD is given back": {map[string]string{
		`interlock_crd_grafted{reason="CRDGrafted"}`: noSeries, `interlock_crd_grafted{reason="CRDConversionNotServed"}`: "0",
	}, 60, []string{"InterlockConversionNotServed"}},
	"another writer of the CRD": {
		map[string]string{`interlock_crd_graft_contested_total`: "0+1x180"}, 60, []string{"InterlockGraftContested"},
	},
	"fields without the CRD": {map[string]string{`interlock_declarations_lost`: "3"}, 90, []string{"InterlockDeclarationsLost"}},
	"an upgrade that does not finish": {map[string]string{
		`interlock_build_info{component="webhook",version="2.0.0"}`: "1",
	}, 90, []string{"InterlockVersionsDiffer"}},
}

func TestAlertsFire(t *testing.T) {
	path, groups := ruleFile(t)
	covered := map[string]bool{}
	for name, test := range alertCases {
		t.Run(name, func(t *testing.T) {
			series := maps.Clone(healthyHub)
			maps.Copy(series, test.change)
			alerts := evaluate(t, path, series, test.minute)
			var got []string
			for _, alert := range alerts {
				covered[alert.Labels.Get(model.AlertNameLabel)] = true
				got = append(got, short(alert))
			}
			slices.Sort(got)
			if difference := cmp.Diff(test.want, got); difference != "" {
				t.Error(difference)
			}
		})
	}
	for _, group := range groups.Groups {
		for _, rule := range group.Rules {
			if rule.Alert != "" && !covered[rule.Alert] {
				t.Errorf("%s fires in no case of this test", rule.Alert)
			}
		}
	}
}

func TestTextsOfTheAlertOnACause(t *testing.T) {
	path, _ := ruleFile(t)
	series := maps.Clone(healthyHub)
	series[`interlock_root_causes{addon="proxy",verdict="NotAvailable"}`] = "20"
	series[`interlock_root_cause_victims{addon="proxy"}`] = "400"
	alerts := evaluate(t, path, series, 60)
	if len(alerts) != 1 {
		t.Fatal(alerts)
	}
	if got, want := alerts[0].Annotations.Get("summary"), "proxy fails on 20% of the clusters that require it"; got != want {
		t.Errorf("summary %q", got)
	}
	want := "The verdict on proxy is NotAvailable. It fails by itself, and keeps 400 add-ons from working, counted once per cluster. " +
		"Repair proxy; the others follow."
	if got := alerts[0].Annotations.Get("description"); got != want {
		t.Errorf("description %q", got)
	}
}

// short returns the name of an alert and the values of its other labels, without severity.
func short(alert *rules.Alert) string {
	labelValues := alert.Labels.Map()
	parts := []string{labelValues[model.AlertNameLabel]}
	for _, label := range slices.Sorted(maps.Keys(labelValues)) {
		if label != model.AlertNameLabel && label != "severity" {
			parts = append(parts, labelValues[label])
		}
	}
	return strings.Join(parts, " ")
}

// evaluate evaluates the rules once a minute, as Prometheus does, and returns the alerts
// that fire in the end.
func evaluate(t *testing.T, path string, series map[string]string, minutes int) []*rules.Alert {
	t.Helper()
	var load strings.Builder
	load.WriteString("load 1m\n")
	for name, values := range series {
		if values == noSeries {
			continue
		}
		if !strings.Contains(values, "x") {
			values += "x180"
		}
		load.WriteString("  " + name + " " + values + "\n")
	}
	loader, err := promqltest.NewLazyLoader(load.String(), promqltest.LazyLoaderOpts{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = loader.Close() }()
	manager := rules.NewManager(&rules.ManagerOptions{
		QueryFunc: rules.EngineQueryFunc(loader.QueryEngine(), loader.Storage()), Appendable: loader.Storage(), Context: t.Context(),
		NotifyFunc: func(context.Context, string, ...*rules.Alert) {}, Logger: promslog.NewNopLogger(), NameValidationScheme: model.LegacyValidation,
	})
	groups, errs := manager.LoadGroups(time.Minute, labels.EmptyLabels(), "", nil, false, path)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	ordered := slices.SortedFunc(maps.Values(groups), func(a, b *rules.Group) int { return strings.Compare(b.Name(), a.Name()) })
	for minute := range minutes + 1 {
		timestamp := time.Unix(0, 0).Add(time.Duration(minute) * time.Minute).UTC()
		loader.WithSamplesTill(timestamp, func(err error) {
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range ordered { // shares come first
				group.Eval(loader.Context(), timestamp)
			}
		})
	}
	var firing []*rules.Alert
	for _, group := range ordered {
		for _, rule := range group.Rules() {
			if err := rule.LastError(); err != nil {
				t.Errorf("%s: %v", rule.Name(), err)
			}
			if alerting, ok := rule.(*rules.AlertingRule); ok {
				for _, alert := range alerting.ActiveAlerts() {
					if alert.State == rules.StateFiring {
						firing = append(firing, alert)
					}
				}
			}
		}
	}
	return firing
}
