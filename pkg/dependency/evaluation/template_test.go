package evaluation_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// runs returns an add-on whose running template is template. The template next is being rolled out.
func runs(template, next string) evaluation.Observation {
	observed := running("")
	observed.Template = versions.Templates{Name: template, Next: next}
	return observed
}

func notKnown(next string) evaluation.Observation {
	observed := runs("", next)
	observed.Template.Unknown = true
	return observed
}

// x has the declaration {a}, its template v2 has {a, b}, none has nothing, and broken
// cannot be read. The template of z is none of x.
func templatedHub(t *testing.T, unread bool) *evaluation.Evaluator {
	t.Helper()
	x := fixture.Deployed(fixture.Specified(t, "x", `dependencies: [{name: a}]`))
	plain := fixture.Specified(t, "plain", `dependencies: [{name: a}]`)
	return evaluation.New((*catalog.Catalog)(nil).Renew([]addonv1alpha1.ClusterManagementAddOn{x, plain}, catalog.Templates{
		Unread: unread,
		Items: []addonv1alpha1.AddOnTemplate{
			fixture.Template("x", "v2", `[{name: a}, {name: b}]`), fixture.Template("x", "none", `[]`),
			fixture.Template("x", "broken", `[`), fixture.Template("z", "others", `[{name: c}]`),
			fixture.Template("plain", "of-plain", `[{name: c}]`),
		},
	}))
}

func TestTheTemplateThatRunsDeclares(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		addOn   string
		unread  bool
		cluster evaluation.Cluster
		x       evaluation.Observation
		want    string
	}{
		"NoTemplate":    {reason: "the registration's counts", x: running(""), want: "a=NotInstalled"},
		"NotInstalled":  {reason: "the registration's counts", want: "a=NotInstalled"},
		"Template":      {reason: "it replaces the registration's", x: runs("v2", ""), want: "a=NotInstalled b=NotInstalled"},
		"OtherTemplate": {reason: "one without a declaration", x: runs("v1", ""), want: "a=NotInstalled"},
		"Rollout":       {reason: "what is about to run does not count yet", x: runs("v1", "v2"), want: "a=NotInstalled"},
		"RolledBack":    {reason: "nor does what is about to replace it", x: runs("v2", "v1"), want: "a=NotInstalled b=NotInstalled"},
		"Empty":         {reason: "a template can take all back", x: runs("none", "")},
		"Unusable":      {reason: "the last verdicts are kept", x: runs("broken", ""), want: "=Held"},
		"NotKnown":      {reason: "addon-manager began during the rollout", x: notKnown("v2"), want: "=Held"},
		"Unread":        {reason: "the templates are not read yet", unread: true, x: runs("v1", ""), want: "=Held"},
		"UnreadRollout": {reason: "nor then", unread: true, x: notKnown("v2"), want: "=Held"},
		"UnreadWithout": {reason: "it has no template", unread: true, x: running(""), want: "a=NotInstalled"},
		"OthersTemplate": {
			reason: "a template counts for its own add-on", x: runs("others", ""), want: "a=NotInstalled",
		},
		"NoTemplatesSupported": {
			reason: "OCM deploys nothing of a template then", addOn: "plain", x: runs("of-plain", ""), want: "a=NotInstalled",
		},
		"Lost": {
			reason: "nothing new is known", cluster: evaluation.Cluster{Available: "Unknown", Offline: evaluation.OfflineHold},
			x: runs("v2", ""), want: "=Held",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := templatedHub(t, tc.unread)
			addOn := tc.addOn
			if addOn == "" {
				addOn = "x"
			}
			state := c.State(addOn, tc.cluster, func(name string) evaluation.Observation {
				return map[string]evaluation.Observation{addOn: tc.x}[name]
			})
			if got := verdicts(c.Evaluate(addOn, state)); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
			var replayed evaluation.State
			if err := json.Unmarshal([]byte(state.String()), &replayed); err != nil {
				t.Fatal(err)
			}
			if got := verdicts(c.Evaluate(addOn, replayed)); got != tc.want {
				t.Errorf("replayed: got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestOnlyAnAddOnWithDeclaringTemplatesIsObservedForThem(t *testing.T) {
	c := templatedHub(t, false)
	want := []evaluation.Need{{Name: "a"}, {Name: "b"}, {Name: "x", Inputs: input.Template}}
	if diff := cmp.Diff(want, c.Needs("x")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]evaluation.Need{{Name: "a"}}, c.Needs("plain")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"x"}, c.Readers("x", input.Template)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if got := c.Readers("plain", input.Template); got != nil {
		t.Errorf("readers of plain: %q", got)
	}
}

// The plugin removes keys from a snapshot that no declaration reads.
func TestKeysIncludeAllDeclarations(t *testing.T) {
	x := fixture.Deployed(fixture.Specified(t, "x", `dependencies: [{name: a, when: {expression: "addOn.labels['r'] == 'x'"}}]`))
	c := evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{x},
		fixture.Template("x", "v2", `[{name: a, when: {expression: "addOn.labels['t'] == 'x'"}}]`)))
	for label, want := range map[string]bool{"r": true, "t": true, "other": false} {
		if got := c.Keys("x").Labels.Has(label); got != want {
			t.Errorf("label %s is read: %t", label, got)
		}
	}
}

// A cycle exists where the templates run that close it, and nowhere else.
func TestACycleOfTemplates(t *testing.T) {
	registered := []addonv1alpha1.ClusterManagementAddOn{
		fixture.Deployed(fixture.Registration("x")), fixture.Registration("y", fixture.Required("x")),
	}
	c := evaluation.New(catalog.New(registered, fixture.Template("x", "v2", `[{name: "y"}]`)))
	for name, tc := range map[string]struct {
		x    evaluation.Observation
		want string
	}{
		"Closed":   {runs("v2", ""), "x=Cycle"},
		"Old":      {runs("v1", "v2"), "x=Satisfied"},
		"NotKnown": {notKnown("v2"), "x=Satisfied"},
	} {
		state := c.State("y", evaluation.Cluster{}, func(addOn string) evaluation.Observation {
			return map[string]evaluation.Observation{"x": tc.x}[addOn]
		})
		if got := verdicts(c.Evaluate("y", state)); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
	if diff := cmp.Diff([]string{"x", "y"}, c.Readers("x", input.Template)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestTheOwnVersionInConditions(t *testing.T) {
	conditional := func(expression string) string {
		return `dependencies: [{name: a, when: {expression: "` + expression + `"}}]`
	}
	versioned := func(version string) map[string]evaluation.Observation {
		return map[string]evaluation.Observation{"x": running(version)}
	}
	unread := running("")
	unread.Template.Unknown = true
	asked := fixture.Now.Time
	pending := evaluation.Cluster{Now: asked, Facts: evaluation.Facts{Requested: asked}}
	for name, tc := range map[string]ruleCase{
		"Matches": {
			reason: "from version 2 on", spec: conditional("addOn.version.semverMatches('>= 2')"), addOns: versioned("v2.1.0"),
			want: "a=NotInstalled", message: "Required addon 'a' is not installed or not available. (not installed)",
		},
		"DoesNot": {
			reason: "version 1 needs it not", spec: conditional("addOn.version.semverMatches('>= 2')"), addOns: versioned("1.9.9"),
			want: "a=NotApplicable",
		},
		"Compared": {
			reason: "-1, 0 or 1", spec: conditional("addOn.version.semverCompare('2.0.0') < 0 && isSemver(addOn.version)"),
			addOns: versioned("2.0.0-rc.1"),
			want:   "a=NotInstalled", message: "Required addon 'a' is not installed or not available. (not installed)",
		},
		"Lease": {
			reason: "the sources are those of any version", spec: conditional("addOn.version == '3.0.0'"), addOns: versioned("1.0.0"),
			cluster: evaluation.Cluster{Facts: evaluation.Facts{Versions: map[string]evaluation.VersionFact{"x": {Version: "3.0.0"}}}},
			want:    "a=NotInstalled", message: "Required addon 'a' is not installed or not available. (not installed)",
		},
		"NotReported": {
			reason: "it fails, so the edge applies", spec: conditional("addOn.version.semverMatches('>= 2')"), addOns: versioned(""),
			want: "a=NotInstalled", message: "Required addon 'a' is not installed or not available. (not installed; " +
				`when.expression failed: "" is no semantic version)`,
		},
		"NotReportedButCared": {
			reason: "an author may decide that", spec: conditional("isSemver(addOn.version) && addOn.version.semverMatches('>= 2')"),
			addOns: versioned(""), want: "a=NotApplicable",
		},
		"NotARange": {
			reason: "it fails, so the edge applies", spec: conditional("addOn.version.semverMatches(cluster.name)"), addOns: versioned("1.0.0"),
			want: "a=NotInstalled", message: "Required addon 'a' is not installed or not available. (not installed; " +
				`when.expression failed: range "": must be a range of semantic versions, such as ">= 1.2 < 2.0", "^1.2" or "1.2.x || 1.4.x")`,
		},
		"Unread": {
			reason: "the templates are not read yet", spec: conditional("addOn.version != ''"),
			addOns: map[string]evaluation.Observation{"x": unread}, want: "a=Held",
		},
		"Pending": {
			reason: "the agent may report another", spec: conditional("addOn.version == ''"), cluster: pending, addOns: versioned("1.0.0"),
			want: "a=Held",
		},
	} {
		t.Run(name, tc.run)
	}
}
