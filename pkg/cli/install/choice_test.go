package install

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestChoiceRefusesFlags(t *testing.T) {
	for name, test := range map[string]struct {
		choice choice
		addOns []string
		want   string
	}{
		"Nothing":       {choice{}, []string{"base", "leaf"}, ""},
		"SeveralAddOns": {choice{version: "1.0.0"}, []string{"base", "leaf"}, "are for one add-on"},
		"Both":          {choice{version: "1.0.0", template: "base-1"}, []string{"base"}, "choose one"},
		"NoRange":       {choice{version: "newest"}, []string{"base"}, `--version="newest": must be a range of semantic versions`},
		"NoValue":       {choice{variables: []string{"MODE"}}, []string{"base"}, `--set="MODE": use NAME=VALUE`},
		"NoName":        {choice{variables: []string{"1=2"}}, []string{"base"}, `--set="1=2": use NAME=VALUE`},
		"Twice":         {choice{variables: []string{"A=1", "A=2"}}, []string{"base"}, `--set="A=2": A is set twice`},
		"EmptyValue":    {choice{variables: []string{"A="}}, []string{"base"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.choice.complete(test.addOns)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestChoiceOfATemplate(t *testing.T) {
	const takesBoth = `supportedConfigs: [{group: addon.open-cluster-management.io, resource: addontemplates},
		{group: addon.open-cluster-management.io, resource: addondeploymentconfigs}]`
	versioned := func(name, version string) addonv1alpha1.AddOnTemplate {
		template := fixture.Template("base", name, "")
		template.Labels = map[string]string{addonv1alpha1.TemplateVersionLabel: version}
		return template
	}
	templates := []addonv1alpha1.AddOnTemplate{
		versioned("base-2", "0.10.0"), versioned("base-1", "0.9.0"), versioned("base-x", "latest"), fixture.Template("other", "other-1", ""),
	}
	const available = "It has 'base-2' (0.10.0), 'base-1' (0.9.0), 'base-x' (latest)"
	for name, test := range map[string]struct {
		choice    choice
		base      string
		templates []addonv1alpha1.AddOnTemplate
		want, err string
	}{
		"Template": {choice{template: "base-x"}, takesBoth, templates, "base-x", ""},
		"OfAnother": {
			choice{template: "other-1"},
			takesBoth, templates, "",
			`--template="other-1": add-on "base" has no such AddOnTemplate. ` + available,
		},
		"Version": {choice{version: "0.9.0"}, takesBoth, templates, "base-1", ""},
		"Newest":  {choice{version: ">= 0.9"}, takesBoth, templates, "base-2", ""},
		"NoSuchVersion": {
			choice{version: "1.x"}, takesBoth, templates, "", `--version="1.x": add-on "base" has no such AddOnTemplate. ` + available,
		},
		"NoTemplates": {choice{version: "1.x"}, takesBoth, nil, "", "It has none"},
		"TakesNone": {
			choice{variables: []string{"A=1"}},
			"{}", templates, "",
			`--set: add-on "base" has no variables, because its ClusterManagementAddOn does not list addondeploymentconfigs`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.choice.complete([]string{"base"}); err != nil {
				t.Fatal(err)
			}
			base := fixture.Specified(t, "base", test.base)
			err := test.choice.resolve(&planned.Fleet{Snapshot: snapshot.New(snapshot.Content{
				Registrations: []addonv1alpha1.ClusterManagementAddOn{base}, Templates: test.templates,
			})})
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("error %v", err)
			}
			if err == nil && test.choice.template != test.want {
				t.Errorf("chose %q", test.choice.template)
			}
		})
	}
}

func TestChosenConfigurations(t *testing.T) {
	o := &options{choice: choice{template: "base-1", variables: []string{"MODE=grpc"}}}
	if err := o.complete([]string{"base"}); err != nil {
		t.Fatal(err)
	}
	o.displaced = map[string]any{
		"agentInstallNamespace": "agents",
		"customizedVariables":   []any{map[string]any{"name": "MODE", "value": "http"}, map[string]any{"name": "LEVEL", "value": "low"}},
	}
	key := types.NamespacedName{Namespace: "c1", Name: "base"}
	wantReferences := []Config{
		{Group: "addon.open-cluster-management.io", Resource: "addontemplates", Name: "base-1"},
		{Group: "addon.open-cluster-management.io", Resource: "addondeploymentconfigs", Namespace: "c1", Name: "kubectl-addon-base"},
	}
	if diff := cmp.Diff(wantReferences, o.references(key)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	wantSpec := map[string]any{
		"agentInstallNamespace": "agents",
		"customizedVariables":   []any{map[string]any{"name": "LEVEL", "value": "low"}, map[string]any{"name": "MODE", "value": "grpc"}},
	}
	if diff := cmp.Diff(wantSpec, o.variableConfig(key).Object["spec"]); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if leaf := (types.NamespacedName{Namespace: "c1", Name: "leaf"}); o.references(leaf) != nil || o.variableConfig(leaf) != nil {
		t.Error("another add-on is configured, too")
	}
	printed := o.manifests(steps.Layer{{AddOn: "base", Clusters: []string{"c1"}}, {AddOn: "leaf", Clusters: []string{"c1"}}})
	var kinds []string
	for _, manifest := range printed {
		kinds = append(kinds, manifest.Kind+" "+manifest.Metadata.Name)
	}
	wantKinds := []string{"AddOnDeploymentConfig kubectl-addon-base", "ManagedClusterAddOn base", "ManagedClusterAddOn leaf"}
	if diff := cmp.Diff(wantKinds, kinds); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestAnAddOnOfAPlacementIsNotConfigured(t *testing.T) {
	c := choice{addOn: "base", template: "base-1"}
	plan := &steps.Plan{Layers: []steps.Layer{{
		{AddOn: "base", Clusters: []string{"c1"}},
		{AddOn: "base", Clusters: []string{"c2"}, ByOCM: true},
	}}}
	c.report(plan)
	if len(plan.Findings) != 1 || !strings.Contains(plan.Findings[0].Text, "'base' gets AddOnTemplate 'base-1'") {
		t.Errorf("findings %v", plan.Findings)
	}
	if len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Text, "a Placement installs it") || plan.Problems[0].Clusters[0] != "c2" {
		t.Errorf("problems %v", plan.Problems)
	}
}
