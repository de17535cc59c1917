package evaluation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/settings"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// wishing declares an edge on a that wishes variables, and one on b.
func wishing(variables string) string {
	return "dependencies: [{name: a, install: Auto, settings: {variables: [" + variables + "]}}, {name: b, addOn: other, type: Optional}]"
}

func TestSettingsOfEdges(t *testing.T) {
	north := evaluation.Cluster{Name: "c", Labels: map[string]string{"region": "north", "long": strings.Repeat("x", 1025)}}
	configured := func(variables map[string]string) evaluation.Observation {
		observed := running("1.0.0")
		observed.Config = variables
		return observed
	}
	unread := running("1.0.0")
	unread.ConfigUnread = true
	const noValue = "has no value: valueFrom has none on this cluster"
	for name, test := range map[string]struct {
		reason, spec string
		addOns       map[string]evaluation.Observation
		want         []settings.Variable
		unread       bool
	}{
		"Value": {reason: "as it is written", spec: wishing("{name: mode, value: grpc}"), want: []settings.Variable{{
			Name:  "mode",
			Value: "grpc",
		}}},
		"Seal": {
			reason: "the policy is that of each variable", want: []settings.Variable{{Name: "mode", Value: "grpc", Sealed: true}},
			spec: "dependencies: [{name: a, install: Auto, settings: {policy: Seal, variables: [{name: mode, value: grpc}]}}]",
		},
		"Label": {
			reason: "of the managed cluster", spec: wishing(`{name: region, valueFrom: "cluster.labels['region']"}`),
			want: []settings.Variable{{Name: "region", Value: "north"}},
		},
		"KUDOParentsParameter": {
			reason: "a parameter of the dependent is handed down",
			spec:   wishing(`{name: NODE_COUNT, valueFrom: "config.ZOOKEEPER_NODES", required: true}`),
			addOns: map[string]evaluation.Observation{"x": configured(map[string]string{"ZOOKEEPER_NODES": "3"})},
			want:   []settings.Variable{{Name: "NODE_COUNT", Value: "3", Required: true}},
		},
		"HelmImportValues": {
			reason: "a setting of another dependency, by the name of its edge",
			spec:   wishing(`{name: port, valueFrom: "dependencies['b'].config[?'port']"}`),
			addOns: map[string]evaluation.Observation{"other": configured(map[string]string{"port": "80"})},
			want:   []settings.Variable{{Name: "port", Value: "80"}},
		},
		"AllDependencies": {
			reason: "or of all", spec: wishing(`{name: port, valueFrom: "dependencies.exists(d, 'port' in dependencies[d].config) ? 'yes' : 'no'"}`),
			addOns: map[string]evaluation.Observation{"other": configured(map[string]string{"port": "80"})},
			want:   []settings.Variable{{Name: "port", Value: "yes"}},
		},
		"NoSuchDependency": {
			reason: "it is reported", spec: wishing(`{name: port, valueFrom: "dependencies['c'].config['port']"}`),
			want: []settings.Variable{{Name: "port", Problem: "has no value: valueFrom failed: no such key: c"}},
		},
		"Missing": {
			reason: "an optional value", spec: wishing(`{name: zone, valueFrom: "cluster.labels[?'zone']"}`),
			want: []settings.Variable{{Name: "zone", Problem: noValue}},
		},
		"Empty": {reason: "empty is none", spec: wishing(`{name: zone, valueFrom: "''"}`), want: []settings.Variable{{
			Name:    "zone",
			Problem: noValue,
		}}},
		"Fails": {
			reason: "nothing is guessed", spec: wishing(`{name: zone, valueFrom: "cluster.labels['zone']"}`),
			want: []settings.Variable{{Name: "zone", Problem: "has no value: valueFrom failed: no such key: zone"}},
		},
		"Long": {
			reason: "OCM's limit", spec: wishing(`{name: zone, valueFrom: "cluster.labels['long']"}`),
			want: []settings.Variable{{Name: "zone", Problem: "has no value: that of valueFrom has more than 1024 characters"}},
		},
		"OwnUnread": {
			reason: "not known yet", spec: wishing(`{name: zone, valueFrom: "config.zone"}`), unread: true,
			addOns: map[string]evaluation.Observation{"x": unread}, want: []settings.Variable{{
				Name:    "zone",
				Problem: "what the expression reads could not be read yet",
			}},
		},
		"OthersUnread": {
			reason: "nor that", spec: wishing(`{name: zone, valueFrom: "dependencies.b.config.zone"}`), unread: true,
			addOns: map[string]evaluation.Observation{"other": unread}, want: []settings.Variable{{
				Name:    "zone",
				Problem: "what the expression reads could not be read yet",
			}},
		},
		"NotApplicable": {
			reason: "an edge that does not apply wishes nothing",
			spec:   `dependencies: [{name: a, install: Auto, when: {expression: "false"}, settings: {variables: [{name: mode, value: grpc}]}}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", test.spec)})
			state := e.State("x", north, func(addOn string) evaluation.Observation { return test.addOns[addOn] })
			requested, ok := e.Evaluate("x", state)[0].Settings()
			if diff := cmp.Diff(test.want, requested); diff != "" || ok == test.unread {
				t.Errorf("%s: known %t, -want, +got:\n%s", test.reason, ok, diff)
			}
		})
	}
}

// The message says why settings are not set, or keep an add-on from being installed.
func TestMessagesOfSettings(t *testing.T) {
	const placed = `{installStrategy: {type: Placements, placements: [{namespace: places, name: a}]}}`
	for name, test := range map[string]struct {
		registered, variables, want string
	}{
		"Required": {
			`{installStrategy: {type: Manual}}`, `{name: zone, valueFrom: "cluster.labels[?'zone']", required: true}`,
			"setting 'zone' is required and has no value: valueFrom has none on this cluster",
		},
		"Placed": {placed, "{name: mode, value: grpc}", "settings have no effect, because Placements install it"},
	} {
		e := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", wishing(test.variables)), fixture.Specified(t, "a",
			test.registered)})
		state := e.State("x", evaluation.Cluster{}, func(string) evaluation.Observation { return evaluation.Observation{} })
		findings := e.Evaluate("x", state)[0]
		if got := findings.Reason(); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q is not in %q", name, test.want, got)
		}
	}
}

// Inputs of settings are loaded, and kept in snapshots.
func TestInputsOfSettings(t *testing.T) {
	e := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x",
		wishing(`{name: port, valueFrom: "dependencies['b'].config[?'port']"}, {name: size, valueFrom: "config.size"}`))})
	if got := e.Readers("other", input.Config); !cmp.Equal(got, []string{"x"}) {
		t.Errorf("settings of the dependency are read by %v", got)
	}
	if keys := e.Keys("other").Config; !keys.Has("port") {
		t.Errorf("a snapshot does not keep them: %v", keys)
	}
	if keys := e.Keys("x").Config; !keys.Has("size") || keys.Has("other") {
		t.Errorf("nor its own: %v", keys)
	}
	var reads []string
	for _, need := range e.Needs("x") {
		if need.Inputs.Any(input.Config) {
			reads = append(reads, need.Name)
		}
	}
	if diff := cmp.Diff([]string{"other", "x"}, reads); diff != "" {
		t.Error(diff)
	}
	if !e.AnyInput(input.Settings) {
		t.Error("AddOnDeploymentConfigs are not watched")
	}
}

// A condition can read the settings of other dependencies, and an edge on a cycle can be one of them.
func TestWhenReadsSettingsOfDependencies(t *testing.T) {
	const condition = `when: {expression: "dependencies.b.config.?mode.orValue('') == 'grpc'"}`
	e := evaluator([]addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "x", "dependencies: [{name: z, "+condition+"}, {name: b, type: Optional}]"),
		fixture.Specified(t, "z", "dependencies: [{name: x}]"),
		fixture.Specified(t, "b", "{}"),
	})
	for mode, want := range map[string]evaluation.Verdict{"grpc": evaluation.Cycle, "http": evaluation.NotInstalled} {
		b := running("1.0.0")
		b.Config = map[string]string{"mode": mode}
		state := e.State("z", evaluation.Cluster{}, func(addOn string) evaluation.Observation {
			return map[string]evaluation.Observation{"b": b}[addOn]
		})
		if got := e.Evaluate("z", state)[0].Verdict; got != want {
			t.Errorf("%s: %s, want %s", mode, got, want)
		}
		b.ConfigUnread = true
		state = e.State("x", evaluation.Cluster{}, func(addOn string) evaluation.Observation {
			return map[string]evaluation.Observation{"b": b}[addOn]
		})
		if got := e.Evaluate("x", state)[0].Verdict; got != evaluation.Held {
			t.Errorf("not read yet: %s", got)
		}
	}
	if got := e.Readers("b", input.Config); !cmp.Equal(got, []string{"x", "z"}) {
		t.Errorf("they are read by %v", got)
	}
}
