package evaluation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestSettings(t *testing.T) {
	const (
		grpc         = `{expression: "config.?mode.orValue('') == 'grpc'", message: Streams need gRPC.}`
		spec         = "dependencies: [{name: a, config: " + grpc + "}]"
		sentence     = "Required addon 'a' is not installed with the settings that are needed. "
		otherMessage = sentence + "Streams need gRPC. (not true of its settings: config.?mode.orValue('') == 'grpc')"
		missing      = "Required addon 'a' is not installed or not available. "
	)
	a := func(variables map[string]string) map[string]evaluation.Observation {
		observed := running("1.0.0")
		observed.Config = variables
		return map[string]evaluation.Observation{"a": observed}
	}
	stopped, unread := running(""), running("")
	stopped.Available = fixture.Available(metav1.ConditionFalse, "Stopped")
	unread.ConfigUnread = true
	mode := func(value string) map[string]string { return map[string]string{"mode": value} }
	for name, tc := range map[string]ruleCase{
		"Match":        {reason: "the setting is right", spec: spec, addOns: a(mode("grpc")), want: "a=Satisfied"},
		"Other":        {reason: "it is not", spec: spec, addOns: a(mode("http")), want: "a=SettingMismatch", message: otherMessage},
		"None":         {reason: "the default counts", spec: spec, addOns: a(nil), want: "a=SettingMismatch", message: otherMessage},
		"NotInstalled": {reason: "that comes first", spec: spec, want: "a=NotInstalled", message: missing + "(not installed)"},
		"NotAvailable": {
			reason: "that too", spec: spec, addOns: map[string]evaluation.Observation{"a": stopped}, want: "a=NotAvailable",
			message: missing + "(Available=False, Stopped, since 2026-08-01T10:00:00Z)",
		},
		"Unread": {reason: "not known yet", spec: spec, addOns: map[string]evaluation.Observation{"a": unread}, want: "a=Held"},
		"UnreadNotUsed": {
			reason: "nothing of it is read", spec: `dependencies: [{name: a, config: {expression: "cluster.name != ''"}}]`,
			cluster: evaluation.Cluster{Name: "cluster1"}, addOns: map[string]evaluation.Observation{"a": unread}, want: "a=Satisfied",
		},
		"Fails": {
			reason: "an expression that fails does not satisfy",
			spec:   `dependencies: [{name: a, message: m, config: {expression: "config.mode == ''"}}]`,
			addOns: a(nil), want: "a=SettingMismatch", message: sentence + "m (config.expression failed: no such key: mode)",
		},
		"VersionFirst": {
			reason: "the version comes first", spec: "dependencies: [{name: a, version: '>= 2', config: " + grpc + "}]", addOns: a(nil),
			want:    "a=VersionMismatch",
			message: "Required addon 'a' is not installed or not available in version '>= 2'. (version 1.0.0 from its ManagedClusterAddOn)",
		},
		"Optional": {
			reason: "an Optional edge", spec: "dependencies: [{name: a, type: Optional, config: " + grpc + "}]", addOns: a(nil),
			want: "a=SettingMismatch",
			message: "Optional addon 'a' is not installed with the settings that are needed. Streams need gRPC. " +
				"(not true of its settings: config.?mode.orValue('') == 'grpc')",
		},
		"IfInstalled": {
			reason: "only where it is installed", spec: "dependencies: [{name: a, type: IfInstalled, version: '*', config: " + grpc + "}]",
			addOns: a(nil), want: "a=SettingMismatch",
			message: "Addon 'a' is installed, but not with the settings that are needed. Streams need gRPC. " +
				"(not true of its settings: config.?mode.orValue('') == 'grpc')",
		},
		"IfNotInstalled": {
			reason: "and not elsewhere",
			spec:   "dependencies: [{name: a, type: IfInstalled, version: '*', config: " + grpc + "}]", want: "a=Satisfied",
		},
		"NotApplicable": {
			reason: "when comes first", spec: `dependencies: [{name: a, when: {expression: "false"}, config: ` + grpc + "}]", addOns: a(nil),
			want: "a=NotApplicable",
		},
	} {
		t.Run(name, tc.run)
	}
}

// A change of the settings of an add-on concerns those that check them, and itself only
// where its own edges read them.
func TestReadersOfSettings(t *testing.T) {
	const check = `{name: a, config: {expression: "config.?mode.orValue('') == 'grpc'"}}`
	x, y := fixture.Specified(t, "x", "dependencies: ["+check+"]"), fixture.Specified(t, "y", "dependencies: [{name: a}]")
	a := fixture.Specified(t, "a", `dependencies: [{name: b, when: {expression: "config.?size.orValue('') == ''"}}]`)
	e := evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{x, y, a, fixture.Deployed(fixture.Registration("z"))},
		fixture.Template("z", "z-2", "["+check+"]")))
	for inputs, want := range map[input.Set][]string{input.Config: {"a", "x", "z"}, input.AddOn: nil} {
		if diff := cmp.Diff(want, e.Readers("a", inputs)); diff != "" {
			t.Errorf("%d: -want +got\n%s", inputs, diff)
		}
	}
	if got := e.Readers("x", input.Config); got != nil {
		t.Errorf("nothing reads the settings of x but %v", got)
	}
	if got := e.WithInput(input.Settings); !cmp.Equal(got, []string{"x", "z"}) {
		t.Errorf("%v check settings", got)
	}
	if keys := e.Keys("a").Config; !keys.Has("mode") || !keys.Has("size") || keys.Has("other") {
		t.Errorf("%v of its settings are read", keys)
	}
	if needs := e.Needs("x"); len(needs) != 1 || needs[0] != (evaluation.Need{Name: "a", Inputs: input.Config}) {
		t.Errorf("needs %v", needs)
	}
}
