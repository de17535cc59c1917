package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/factsobject"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/fixture"
)

// onCluster returns an add-on on a managed cluster. change may be nil.
func onCluster(cluster, name string, change func(*addonv1alpha1.ManagedClusterAddOn)) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	if change != nil {
		change(addOn)
	}
	return addOn
}

// runs returns a change after which the AddOnTemplate runs.
func runs(template string) func(*addonv1alpha1.ManagedClusterAddOn) {
	return func(addOn *addonv1alpha1.ManagedClusterAddOn) {
		config := &ocmv1alpha1.ConfigSpecHash{ConfigReferent: ocmv1alpha1.ConfigReferent{Name: template}, SpecHash: "hash"}
		addOn.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{{
			ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addontemplates"},
			ConfigReferent:      ocmv1alpha1.ConfigReferent{Name: template},
			DesiredConfig:       config, LastAppliedConfig: config,
		}}
	}
}

func versioned(version string) func(*addonv1alpha1.ManagedClusterAddOn) {
	return func(addOn *addonv1alpha1.ManagedClusterAddOn) {
		addOn.Annotations = map[string]string{addonv1alpha1.AddOnVersionAnnotation: version}
	}
}

// reportedOn returns the facts with which the agent of a managed cluster reports the version of x.
func reportedOn(cluster, version string) dependencyv1alpha1.ManagedClusterFacts {
	key := factsobject.Key(cluster)
	facts := dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	facts.Spec.AddOns = []dependencyv1alpha1.AddOn{{Name: "x"}}
	facts.Status.AddOns = []dependencyv1alpha1.AddOnFact{{AddOn: dependencyv1alpha1.AddOn{Name: "x"}, Version: version}}
	return facts
}

func TestFindVersionsNotReported(t *testing.T) {
	const (
		set     = "; to set it: kubectl annotate clustermanagementaddon x dependency.addon.open-cluster-management.io/version=VERSION"
		nowhere = `no version of "x" is set on its ClusterManagementAddOn or an AddOnTemplate, so a dependency on version ">= 2" fails where ` +
			`neither the lease of its agent nor its ManagedClusterAddOn reports one` + set
	)
	unknownOn := func(clusters string) string {
		return `no version of "x" is known on ` + clusters + `, so a dependency on version ">= 2" fails there`
	}
	x := fixture.Deployed(fixture.Registration("x"))
	template := func(name, version string) addonv1alpha1.AddOnTemplate {
		template := fixture.Template("x", name, "")
		template.Annotations = map[string]string{addonv1alpha1.AddOnVersionAnnotation: version}
		return template
	}
	type addOns = []*addonv1alpha1.ManagedClusterAddOn
	type templates = []addonv1alpha1.AddOnTemplate
	for name, test := range map[string]struct {
		spec    string // of the add-on in a file; by default, it has a range on x
		hub     snapshot.Content
		inFiles templates
		want    string
	}{
		"not registered": {hub: snapshot.Content{Registrations: fixture.Registrations("y:")}},
		"installed nowhere": {
			hub: snapshot.Content{Registrations: fixture.Registrations("x:")}, want: nowhere,
		},
		"installed nowhere, with a version": {
			hub: snapshot.Content{Registrations: []addonv1alpha1.ClusterManagementAddOn{fixture.Versioned(x, "1.0.0")}},
		},
		"nowhere known": {
			hub:  snapshot.Content{Registrations: fixture.Registrations("x:"), AddOns: addOns{onCluster("c1", "x", nil), onCluster("c2", "x", nil)}},
			want: unknownOn("2 of the 2 managed clusters where it is installed (c1, c2)") + set,
		},
		"known on one": {
			hub: snapshot.Content{Registrations: fixture.Registrations("x:"), AddOns: addOns{
				onCluster("c1", "x", versioned("1.0.0")), onCluster("c2", "x", nil), onCluster("c2", "y", nil),
			}},
			want: unknownOn("1 of the 2 managed clusters where it is installed (c2)") + set,
		},
		"many": {
			hub: snapshot.Content{Registrations: fixture.Registrations("x:"), AddOns: addOns{
				onCluster("c1", "x", nil), onCluster("c2", "x", nil), onCluster("c3", "x", nil), onCluster("c4", "x", nil),
			}},
			want: unknownOn("4 of the 4 managed clusters where it is installed (c1, c2, c3, …)") + set,
		},
		"reported by the agent": {
			hub: snapshot.Content{Registrations: fixture.Registrations("x:"), AddOns: addOns{
				onCluster("c1", "x", nil), onCluster("c1", names.AgentAddOn, nil),
			}, Facts: []dependencyv1alpha1.ManagedClusterFacts{reportedOn("c1", "2.0.0")}},
		},
		"the agent found none": {
			hub: snapshot.Content{Registrations: fixture.Registrations("x:"), AddOns: addOns{
				onCluster("c1", "x", nil), onCluster("c1", names.AgentAddOn, nil),
			}, Facts: []dependencyv1alpha1.ManagedClusterFacts{reportedOn("c1", "")}},
			want: unknownOn("1 of the 1 managed cluster where it is installed (c1)") + set,
		},
		"not requested of the agent": {
			hub: snapshot.Content{Registrations: fixture.Registrations("x:"), AddOns: addOns{
				onCluster("c1", "x", nil), onCluster("c1", names.AgentAddOn, nil),
			}},
			want: unknownOn("1 of the 1 managed cluster where it is installed (c1)") +
				", unless addon-agent, which has not been requested to report it on 1 of them, finds one on the lease" + set,
		},
		"by the template that runs": {
			hub: snapshot.Content{
				Registrations: []addonv1alpha1.ClusterManagementAddOn{x}, Templates: templates{template("v1", "1.0.0"), template("v2", "")},
				AddOns: addOns{onCluster("c1", "x", runs("v1")), onCluster("c2", "x", runs("v2"))},
			},
			want: unknownOn("1 of the 2 managed clusters where it is installed (c2)") + set,
		},
		"by a template in a file": {
			hub: snapshot.Content{
				Registrations: []addonv1alpha1.ClusterManagementAddOn{x}, Templates: templates{template("v2", "")},
				AddOns: addOns{onCluster("c2", "x", runs("v2"))},
			},
			inFiles: templates{template("v2", "2.0.0")},
		},
		"set on the hub, and not in the file of the template": {
			hub: snapshot.Content{
				Registrations: []addonv1alpha1.ClusterManagementAddOn{x}, Templates: templates{template("v2", "2.0.0")},
				AddOns: addOns{onCluster("c2", "x", runs("v2"))},
			},
			inFiles: templates{template("v2", "")},
		},
		"another add-on has the range": {
			spec: "dependencies: [{name: x}]",
			hub:  snapshot.Content{Registrations: fixture.Registrations("x:"), AddOns: addOns{onCluster("c1", "x", nil)}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.spec == "" {
				test.spec = `dependencies: [{name: x, version: ">= 2"}, {name: again, addOn: x, version: ">= 1"}]`
			}
			line := func(string) int { return 7 }
			files := []Declared{{Path: "file", AddOn: fixture.Specified(t, "a", test.spec), Line: line}}
			test.hub.Taken = fixture.Now.Time
			if compares := ComparesVersions(files, nil, test.hub.Registrations); !compares && test.want != "" {
				t.Error("not to be looked for")
			}
			var got []string
			for _, finding := range FindVersionsNotReported(files, nil, test.inFiles, snapshot.New(test.hub)) {
				got = append(got, finding.Message)
				if finding.Severity != SeverityWarning || finding.Rule != "VersionNotReported" || finding.Field != "spec.dependencies[0]" ||
					finding.Line != 7 {
					t.Errorf("%+v", finding)
				}
			}
			if strings.Join(got, "\n") != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// Declarations of AddOnTemplates in files count as well, and a version of a registration that the file leaves out.
func TestVersionsOfOtherObjects(t *testing.T) {
	hub := snapshot.Content{
		Registrations: []addonv1alpha1.ClusterManagementAddOn{fixture.Registration("x"), fixture.Versioned(fixture.Registration("z"), "2.0.0")},
		AddOns:        []*addonv1alpha1.ManagedClusterAddOn{onCluster("c1", "x", nil), onCluster("c1", "z", nil)}, Taken: fixture.Now.Time,
	}
	line := func(string) int { return 0 }
	templates := []DeclaredTemplate{{
		Path: "t", Template: fixture.Template("a", "a-1", `[{name: x, version: "2"}, {name: z, version: "2"}]`),
		Line: line,
	}}
	files := []Declared{{Path: "z", AddOn: fixture.Registration("z"), Line: line}}
	var got []string
	for _, finding := range FindVersionsNotReported(files, templates, nil, snapshot.New(hub)) {
		got = append(got, fmt.Sprintf("%s %s %s", finding.Path, finding.AddOn, finding.Field))
	}
	if want := []string{"t a metadata.annotations[dependency.addon.open-cluster-management.io/dependencies]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
