package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestChangedTemplates(t *testing.T) {
	hub := []addonv1alpha1.ClusterManagementAddOn{fixture.Deployed(fixture.Registration("x")), fixture.Registration("a")}
	versioned := []addonv1alpha1.ClusterManagementAddOn{hub[0], fixture.Versioned(fixture.Registration("a"), "1.0.0")}
	declaring := func(declares ...string) (templates []addonv1alpha1.AddOnTemplate) {
		for i, text := range declares {
			templates = append(templates, fixture.Template("x", string(rune('1'+i)), text))
		}
		return templates
	}
	bare := fixture.Template("x", "1", "")
	bare.Annotations = nil
	for name, tc := range map[string]struct {
		previous, current *Catalog
		templates         []string
		addOns            []string
	}{
		"Nothing":    {New(hub, declaring(`[{name: a}]`)...), New(hub, declaring(`[{name: a}]`)...), nil, nil},
		"Created":    {New(hub), New(hub, declaring(`[{name: a}]`)...), []string{"1"}, nil},
		"Second":     {New(hub, declaring(`[{name: a}]`)...), New(hub, declaring(`[{name: a}]`, `[]`)...), []string{"2"}, nil},
		"Deleted":    {New(hub, declaring(`[{name: a}]`)...), New(hub), []string{"1"}, nil},
		"Edited":     {New(hub, declaring(`[{name: a}]`)...), New(hub, declaring(`[{name: a, message: m}]`)...), []string{"1"}, nil},
		"Rewritten":  {New(hub, declaring(`[{name: a}]`)...), New(hub, declaring(`[{name: a, type: Required}]`)...), nil, nil},
		"Broken":     {New(hub, declaring(`[{name: a}]`)...), New(hub, declaring(`[`)...), []string{"1"}, nil},
		"Bare":       {New(hub, bare), New(hub), nil, nil},
		"NotDeclard": {New(hub, declaring(`[]`)...), New(hub, bare), []string{"1"}, nil},
		"VersionOfDependency": {
			New(hub, declaring(`[{name: a, version: "1"}]`)...), New(versioned, declaring(`[{name: a, version: "1"}]`)...), []string{"1"}, nil,
		},
		"OtherAddOn": {New(hub, declaring(`[]`)...), New(hub, fixture.Template("a", "1", `[]`)), []string{"1"}, nil},
		"Supported": {
			New([]addonv1alpha1.ClusterManagementAddOn{fixture.Registration("x"), hub[1]}, declaring(`[]`)...),
			New(hub, declaring(`[]`)...),
			[]string{"1"},
			nil,
		},
		"Read": {(*Catalog)(nil).Renew(hub, Templates{Unread: true}), New(hub, declaring(`[]`)...), []string{"1"}, []string{"x"}},
	} {
		if diff := cmp.Diff(tc.templates, tc.current.ChangedTemplates(tc.previous)); diff != "" {
			t.Errorf("%s: templates -want, +got:\n%s", name, diff)
		}
		if diff := cmp.Diff(tc.addOns, tc.current.Changed(tc.previous)); diff != "" {
			t.Errorf("%s: add-ons -want, +got:\n%s", name, diff)
		}
	}
}

// All methods about the declarations of an add-on include its templates.
func TestTemplatesAreDeclarations(t *testing.T) {
	hub := []addonv1alpha1.ClusterManagementAddOn{
		fixture.Deployed(fixture.Registration("x", fixture.Required("a"))), fixture.Registration("a"), fixture.Registration("b"),
	}
	c := New(hub, fixture.Template("x", "v2", `{dependencies: [{name: b, version: ">= 1"}, {name: p, api: {kind: Pod}}, {name: nobody}],
provides: [{kind: Widget}]}`), fixture.Template("nowhere", "v9", `[{name: a}]`))
	if diff := cmp.Diff([]string{"x"}, c.Dependents("b")); diff != "" {
		t.Errorf("dependents of b -want, +got:\n%s", diff)
	}
	want := Requests{APIs: []addonv1alpha1.DependencyAPI{{AddonAPI: addonv1alpha1.AddonAPI{Kind: "Pod"}}}, AddOns: []string{"b"}}
	if diff := cmp.Diff(want, c.Requests("x")); diff != "" {
		t.Errorf("requests -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"x"}, c.Providers(addonv1alpha1.AddonAPI{Kind: "Widget"})); diff != "" {
		t.Errorf("providers -want, +got:\n%s", diff)
	}
	problems := c.TemplateProblems("v2")
	if len(problems) != 1 || problems[0].Reason != declaration.ProblemNotRegistered || len(c.Problems("x")) != 0 {
		t.Errorf("problems %v", problems)
	}
	if !c.AllValid("x") || New(hub, fixture.Template("x", "v3", "[")).AllValid("x") {
		t.Error("AllKnown does not look at templates")
	}
	edited := Templates{Items: []addonv1alpha1.AddOnTemplate{fixture.Template("x", "v2", "[{name: a}]")}}
	if renewed := c.Renew(hub, edited); len(renewed.Dependents("a")) != 1 {
		t.Error("an edited template is not read again")
	}
}

func TestACycleThroughATemplateIsConditional(t *testing.T) {
	hub := []addonv1alpha1.ClusterManagementAddOn{
		fixture.Deployed(fixture.Registration("x")), fixture.Registration("y", fixture.Required("x")),
	}
	c := New(hub, fixture.Template("x", "v2", `[{name: "y"}]`))
	if len(c.Cycles("x")) != 0 || c.Conditional("x") == nil {
		t.Fatal("want a cycle where v2 runs")
	}
	if problems := c.Problems("y"); len(problems) != 1 || problems[0].Reason != declaration.ProblemConditionalCycle {
		t.Errorf("problems %v", problems)
	}
	everywhere := New([]addonv1alpha1.ClusterManagementAddOn{fixture.Deployed(fixture.Registration("x", fixture.Required("y"))), hub[1]},
		fixture.Template("x", "v2", `[{name: "y"}]`))
	if len(everywhere.Cycles("x")) != 1 || everywhere.Conditional("x") != nil {
		t.Error("a cycle by all declarations of x is one everywhere")
	}
}

// A chart whose value is missing renders an annotation without text. It is no declaration.
func TestAnAnnotationWithoutTextIsNone(t *testing.T) {
	registered := fixture.Deployed(fixture.Registration("x", fixture.Required("a")))
	for text, want := range map[string]int{"": 0, "\n": 0, "[]": 1} {
		c := New([]addonv1alpha1.ClusterManagementAddOn{registered}, fixture.Template("x", "x-2", text))
		if got := len(c.Variants("x")); got != want {
			t.Errorf("%q: %d AddOnTemplates declare something", text, got)
		}
	}
}
