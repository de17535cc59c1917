package snapshot

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

// twoClusters returns a content with every kind of object. The add-on x on cluster1 has its agent on "elsewhere".
func twoClusters(t *testing.T, spec string) Content {
	t.Helper()
	content := Content{
		Taken: fixture.Now.Time, OCMVersion: "1.2.1",
		Registrations: []addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", spec)},
		Configs:       []addonv1alpha1.AddOnDeploymentConfig{{ObjectMeta: metav1.ObjectMeta{Namespace: "configs", Name: "a"}}},
		Templates:     []addonv1alpha1.AddOnTemplate{{ObjectMeta: metav1.ObjectMeta{Name: "a-1"}}},
		Decisions:     []clusterv1beta1.PlacementDecision{{ObjectMeta: metav1.ObjectMeta{Namespace: "places", Name: "a-1"}}},
		Placements:    []clusterv1beta1.Placement{{ObjectMeta: metav1.ObjectMeta{Namespace: "places", Name: "a"}}},
		DecisionsRead: true, PlacementsRead: true,
		Policies: []dependencyv1alpha1.AddOnDependencyPolicy{{ObjectMeta: metav1.ObjectMeta{Name: "edge"}}},
		Manager:  &Manager{Offline: evaluation.OfflineStrict, Lifecycle: true},
	}
	content.Decisions[0].Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "elsewhere"}, {ClusterName: "cluster1"}}
	for _, name := range []string{"cluster1", "elsewhere"} {
		content.Clusters = append(content.Clusters, *joined(name))
		content.AddOns = append(content.AddOns, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "x"}})
		facts := dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: name}}
		facts.Spec.APIs = []dependencyv1alpha1.APIRequest{{API: dependencyv1alpha1.API{Kind: "Thing"}}}
		facts.Status.APIs = []dependencyv1alpha1.APIFact{{API: dependencyv1alpha1.API{Kind: "Thing"}, Served: metav1.ConditionTrue}}
		content.Facts = append(content.Facts, facts)
		installation := dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "x"}}
		content.Installations = append(content.Installations, installation)
	}
	return content
}

// everything are the permissions of a user who may read all of these clusters.
func everything(clusters ...string) Permissions {
	user := Permissions{
		Policies: true, Templates: true, Configs: true, Placements: true, Decisions: true,
		Facts: true, Installations: true, OCM: true, Manager: true,
	}
	if len(clusters) > 0 {
		user.Clusters = sets.New(clusters...)
	}
	return user
}

// TestPermitLeavesNothingOfOtherClusters looks for the name of another cluster in all that is left.
func TestPermitLeavesNothingOfOtherClusters(t *testing.T) {
	content := twoClusters(t, "dependencies: [{name: a, api: {kind: Thing}}]")
	before, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	limited := content.Permit(everything("cluster1"))
	left, err := json.Marshal(limited)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(left), "elsewhere") || strings.Count(string(left), "cluster1") < 5 {
		t.Errorf("%s", left)
	}
	if selected, _, _ := New(limited).Selected(t.Context(), nil, "cluster1"); selected {
		t.Error("selected by no Placement")
	}
	if after, _ := json.Marshal(content); string(after) != string(before) {
		t.Error("the content has changed")
	}
	if whole := content.Permit(everything()); !reflect.DeepEqual(whole, content) {
		t.Error("a user who may read all misses something")
	}
}

// TestPermitLeavesOutKinds takes one permission away after the other.
func TestPermitLeavesOutKinds(t *testing.T) {
	for name, test := range map[string]struct {
		take func(*Permissions)
		left func(Content) bool
	}{
		"policies": {
			func(p *Permissions) { p.Policies = false }, func(c Content) bool { return c.Policies != nil || c.PoliciesUnread == "" },
		},
		"templates":     {func(p *Permissions) { p.Templates = false }, func(c Content) bool { return c.Templates != nil }},
		"configs":       {func(p *Permissions) { p.Configs = false }, func(c Content) bool { return c.Configs != nil }},
		"placements":    {func(p *Permissions) { p.Placements = false }, func(c Content) bool { return c.Placements != nil || c.PlacementsRead }},
		"decisions":     {func(p *Permissions) { p.Decisions = false }, func(c Content) bool { return c.Decisions != nil || c.DecisionsRead }},
		"facts":         {func(p *Permissions) { p.Facts = false }, func(c Content) bool { return c.Facts != nil }},
		"installations": {func(p *Permissions) { p.Installations = false }, func(c Content) bool { return c.Installations != nil }},
		"OCM":           {func(p *Permissions) { p.OCM = false }, func(c Content) bool { return c.OCMVersion != "" || c.OCMVersionUnread == "" }},
		"manager": {
			func(p *Permissions) { p.Manager = false },
			func(c Content) bool { return c.RunsLifecycle() || c.Policy() != evaluation.OfflineHold },
		},
	} {
		content := twoClusters(t, "dependencies: []")
		if !test.left(content.Permit(everything())) {
			t.Errorf("%s: the test sees no difference", name)
		}
		user := everything()
		test.take(&user)
		if test.left(content.Permit(user)) {
			t.Errorf("%s are left", name)
		}
	}
}

// TestVerdictsOnHiddenInputsAreHeld tests that a verdict is neither satisfied nor failed by an object that the user may not read.
func TestVerdictsOnHiddenInputsAreHeld(t *testing.T) {
	own, hosting := "dependencies: [{name: a, api: {kind: Thing}}]", "dependencies: [{name: a, api: {kind: Thing, servedBy: HostingCluster}}]"
	withoutFacts := everything()
	withoutFacts.Facts = false
	withoutOCM := everything()
	withoutOCM.OCM = false
	for name, test := range map[string]struct {
		spec   string
		user   Permissions
		hosted bool
		want   evaluation.Verdict
	}{
		"facts":                    {own, everything(), false, evaluation.Satisfied},
		"no facts":                 {own, withoutFacts, false, evaluation.Held},
		"the version of OCM":       {"requirements: {ocm: '>= 2.0'}", everything(), false, evaluation.RequirementNotMet},
		"no version of OCM":        {"requirements: {ocm: '>= 2.0'}", withoutOCM, false, evaluation.Held},
		"the hosting cluster":      {hosting, everything(), true, evaluation.Satisfied},
		"a hidden hosting cluster": {hosting, everything("cluster1"), true, evaluation.Held},
	} {
		content := twoClusters(t, test.spec)
		if test.hosted {
			content.AddOns[0].Annotations = map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: "elsewhere"}
		}
		limited := New(content.Permit(test.user))
		if verdict, because := verdictOf(t, limited); verdict != test.want {
			t.Errorf("%s: %s: %s, want %s", name, verdict, because, test.want)
		}
	}
	limited := New(twoClusters(t, own).Permit(Permissions{Clusters: sets.New("cluster1")}))
	if _, known, _ := limited.Config(t.Context(), types.NamespacedName{}); known {
		t.Error("a hidden config is known")
	}
	if _, known, _ := limited.TemplateVersion(t.Context(), "a-1"); known {
		t.Error("the version of a hidden AddOnTemplate is known")
	}
	if cluster, _ := limited.Cluster(t.Context(), "elsewhere"); cluster != (*clusterv1.ManagedCluster)(nil) {
		t.Error("a hidden cluster is readable")
	}
}
