package steps_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/test/fixture"
)

// clusterWith returns a managed cluster with add-ons: "base", "base@1.0" with a version, "-base" that is being removed, "~base"
// that is not available, "base!" that Interlock installed, and "base!?" that another writer has taken over since.
func clusterWith(name, addOns string) steps.Cluster {
	cluster := steps.Cluster{Owned: sets.New[string](), Taken: sets.New[string](), Cluster: whatif.Cluster{
		Cluster: evaluation.Cluster{
			Name: name, Labels: map[string]string{"name": name}, Now: fixture.Now.Time,
			Available: metav1.ConditionTrue, Offline: evaluation.OfflineHold,
		},
		AddOns: map[string]evaluation.Observation{},
	}}
	for _, addOn := range strings.Fields(addOns) {
		observed := evaluation.Observation{Installed: true, Available: fixture.Available(metav1.ConditionTrue, "")}
		if strings.HasPrefix(addOn, "-") {
			observed.Removed = fixture.Now.Time
		}
		if strings.HasPrefix(addOn, "~") {
			observed.Available = fixture.Available(metav1.ConditionFalse, "Down")
		}
		observed.Name = strings.Trim(addOn, "-~!?")
		if strings.Contains(addOn, "!") {
			cluster.Owned.Insert(observed.Name)
		}
		if strings.HasSuffix(addOn, "?") {
			cluster.Taken.Insert(observed.Name)
		}
		observed.Name, observed.Version, _ = strings.Cut(observed.Name, "@")
		cluster.AddOns[observed.Name] = observed
	}
	return cluster
}

func lost(cluster steps.Cluster) steps.Cluster {
	cluster.Available = metav1.ConditionUnknown
	return cluster
}

// selected lets Placements select the cluster for add-ons.
func selected(cluster steps.Cluster, addOns ...string) steps.Cluster {
	cluster.Selected = func(addOn string) (bool, bool) { return sets.New(addOns...).Has(addOn), true }
	return cluster
}

func serving(cluster steps.Cluster, status metav1.ConditionStatus) steps.Cluster {
	cluster.Facts.APIs = evaluation.APIFacts{addonv1alpha1.AddonAPI{Kind: "Tunnel"}: {Served: status}}
	return cluster
}

// hub has the declared specification of each add-on, in YAML.
type hub map[string]string

func (h hub) evaluator(t *testing.T, policies ...string) *evaluation.Evaluator {
	t.Helper()
	var registrations []addonv1alpha1.ClusterManagementAddOn
	for name, spec := range h {
		registrations = append(registrations, fixture.Specified(t, name, spec))
	}
	var objects []dependencyv1alpha1.AddOnDependencyPolicy
	for i, spec := range policies {
		objects = append(objects, fixture.Policy(t, fmt.Sprintf("p%d", i), spec))
	}
	declared := catalog.New(registrations)
	var consenting []clusterv1beta1.Placement // those in the namespace labels
	for name := range h {
		for _, placement := range declared.Install(name).Placements {
			if placement.Namespace == "labels" {
				consenting = append(consenting, fixture.Consenting(placement.Namespace, placement.Name, name))
			}
		}
	}
	return evaluation.New(declared.WithPolicies(policy.Read(objects)).Consented(catalog.Placements{Items: consenting}))
}

// linesOf returns the lines of a plan. The lines of problems begin with "!".
func linesOf(plan *steps.Plan) []string {
	var lines []string
	for i, layer := range plan.Layers {
		var parts []string
		for _, step := range layer {
			line := step.AddOn
			if len(step.Because) > 0 {
				line += "<" + strings.Join(step.Because, ",")
			}
			if step.ByOCM {
				line += " by OCM"
			}
			if step.Waits {
				line += " waits"
			}
			parts = append(parts, line+" ("+strings.Join(step.Clusters, " ")+")")
		}
		lines = append(lines, fmt.Sprintf("%d: %s", i+1, strings.Join(parts, ", ")))
	}
	for _, finding := range plan.Problems {
		lines = append(lines, "! "+strings.Join(finding.Clusters, " ")+": "+finding.Text)
	}
	for _, finding := range plan.Findings {
		lines = append(lines, strings.Join(finding.Clusters, " ")+": "+finding.Text)
	}
	return lines
}

const (
	manual = "installStrategy: {type: Manual}"
	placed = "installStrategy: {type: Placements, placements: [{namespace: places, name: edge}]}"
)

// needing is a declaration of dependencies.
func needing(dependencies string) string {
	return "{" + manual + ", dependencies: [" + dependencies + "]}"
}

// stack has five add-ons in three layers.
var stack = hub{
	"portal": needing("{name: gateway}, {name: tunnel, type: Optional}"), "gateway": needing("{name: tokens}, {name: certs}"),
	"tokens": "{}", "certs": "{" + manual + "}", "tunnel": needing("{name: certs}"),
}

func TestInstall(t *testing.T) {
	until := fixture.Now.Add(time.Hour).UTC().Format(time.RFC3339)
	waived := `{overrides: [{addOn: portal, dependency: gateway, waive: {reason: r, until: "` + until + `"}}]}`
	for _, test := range []struct {
		name     string
		hub      hub
		policies []string
		addOns   string
		optional bool
		clusters []steps.Cluster
		want     []string
	}{
		{
			name: "in layers", hub: stack, addOns: "portal", clusters: []steps.Cluster{clusterWith("c1", ""), clusterWith("c2", "")},
			want: []string{"1: certs<gateway (c1 c2), tokens<gateway (c1 c2)", "2: gateway<portal (c1 c2)", "3: portal (c1 c2)"},
		},
		{
			name: "with Optional ones", hub: stack, addOns: "portal", optional: true, clusters: []steps.Cluster{clusterWith("c1", "")},
			want: []string{"1: certs<gateway,tunnel (c1), tokens<gateway (c1)", "2: gateway<portal (c1), tunnel<portal (c1)", "3: portal (c1)"},
		},
		{
			name: "only what is missing, and below what is installed", hub: stack, addOns: "portal",
			clusters: []steps.Cluster{clusterWith("c1", "gateway certs"), clusterWith("c2", "~tokens")},
			want: []string{
				"1: certs<gateway (c2), tokens<gateway (c1)", "2: gateway<portal (c2), portal (c1)", "3: portal (c2)",
				"c2: 'gateway' will not work until an installed add-on does: Required addon 'tokens' is not installed or not available. " +
					"(Available=False, Down, since 2026-08-01T10:00:00Z)",
			},
		},
		{
			name: "nothing that is installed", hub: stack, addOns: "certs", clusters: []steps.Cluster{clusterWith("c1", "certs")},
			want: []string{"c1: 'certs' is installed already, and stays as it is"},
		},
		{
			name: "nothing on a lost cluster", hub: stack, addOns: "certs", clusters: []steps.Cluster{lost(clusterWith("c1", ""))},
			want: []string{"! c1: the managed cluster cannot be reached, so it is not known what is needed there"},
		},
		{
			name: "not before its predecessor is gone", hub: stack, addOns: "gateway", clusters: []steps.Cluster{clusterWith("c1", "-certs tokens")},
			want: []string{"1: certs<gateway (c1)", "2: gateway (c1)", "! c1: 'certs' is being removed: wait until it is gone"},
		},
		{
			name:   "where an edge applies",
			hub:    hub{"leaf": needing("{name: base, when: {clusterSelector: {matchLabels: {name: c1}}}}"), "base": "{}"},
			addOns: "leaf", clusters: []steps.Cluster{clusterWith("c1", ""), clusterWith("c2", "")},
			want: []string{"1: base<leaf (c1), leaf (c2)", "2: leaf (c1)"},
		},
		{
			name: "not what is waived", hub: stack, policies: []string{waived}, addOns: "portal", clusters: []steps.Cluster{clusterWith("c1", "")},
			want: []string{"1: portal (c1)"},
		},
		{
			name: "not what a policy makes Optional", hub: stack,
			policies: []string{`{overrides: [{addOn: portal, dependency: gateway, type: Optional}]}`},
			addOns:   "portal", clusters: []steps.Cluster{clusterWith("c1", "")}, want: []string{"1: portal (c1)"},
		},
		{
			name: "not what is needed only where it is installed",
			hub:  hub{"leaf": needing("{name: base, type: IfInstalled, version: \">= 1\"}"), "base": "{}"}, addOns: "leaf",
			clusters: []steps.Cluster{clusterWith("c1", "")}, want: []string{"1: leaf (c1)"},
		},
		{
			name: "what nobody registered", hub: hub{"leaf": needing("{name: base}, {name: nice, type: Optional}")}, addOns: "leaf", optional: true,
			clusters: []steps.Cluster{
				clusterWith("c1", ""), clusterWith("c2", ""), clusterWith("c3", ""), clusterWith("c4", ""), clusterWith("c5", "base"),
			},
			want: []string{
				"1: leaf (c1 c2 c3 c4 c5)", "! c1 c2 c3 c4: 'leaf' needs 'base', which has no ClusterManagementAddOn on this hub",
				"c1 c2 c3 c4 c5: 'leaf' needs 'nice', which has no ClusterManagementAddOn on this hub",
			},
		},
		{
			name: "a cycle", hub: hub{"a": needing("{name: b}"), "b": needing("{name: a}")}, addOns: "a",
			clusters: []steps.Cluster{clusterWith("c1", "")},
			want:     []string{"1: a (c1)", "! c1: 'a' is on the dependency cycle: a → b → a"},
		},
		{
			name: "a conflict", hub: hub{"a": needing("{name: b, type: Conflicts}"), "b": "{}"}, addOns: "a",
			clusters: []steps.Cluster{clusterWith("c1", "b"), clusterWith("c2", "")},
			want:     []string{"1: a (c1 c2)", "! c1: 'a' conflicts with b (installed)"},
		},
		{
			name: "a conflict of what is installed", hub: hub{"a": "{}", "b": needing("{name: a, type: Conflicts}")}, addOns: "a",
			clusters: []steps.Cluster{clusterWith("c1", "b")},
			want:     []string{"1: a (c1)", "! c1: 'b' conflicts with a (installed)"},
		},
		{
			name: "another version",
			hub:  hub{"a": needing(`{name: b, version: ">= 2"}`), "b": "{}"}, addOns: "a", clusters: []steps.Cluster{clusterWith("c1", "b@1.0")},
			want: []string{"1: a (c1)", "! c1: 'a' requires b in version '>= 2' (version 1.0 from its ManagedClusterAddOn)"},
		},
		{
			name: "a requirement", hub: hub{"a": `{requirements: {kubernetes: ">= 1.30"}}`}, addOns: "a",
			clusters: []steps.Cluster{func() steps.Cluster { c := clusterWith("c1", ""); c.KubernetesVersion = "v1.28.0"; return c }()},
			want:     []string{"1: a (c1)", "! c1: 'a' requires Kubernetes version '>= 1.30' (it is v1.28.0)"},
		},
		{
			name: "what contradicts already", hub: hub{"a": "{}", "b": needing("{name: c, type: Conflicts}"), "c": "{}"}, addOns: "a",
			clusters: []steps.Cluster{clusterWith("c1", "b c")}, want: []string{"1: a (c1)"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			wanted := steps.Installation{AddOns: strings.Fields(test.addOns), Optional: test.optional}
			plan := steps.Install(test.hub.evaluator(t, test.policies...), wanted, test.clusters)
			if diff := cmp.Diff(test.want, linesOf(plan)); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

func TestChoices(t *testing.T) {
	alternatives := needing("{name: e, anyOf: [{addOn: one}, {addOn: two}]}")
	api := needing("{name: t, api: {kind: Tunnel}}")
	provider := "{provides: [{kind: Tunnel}]}"
	for _, test := range []struct {
		name, leaf, addOns string
		others             hub
		cluster            steps.Cluster
		want               []string
	}{
		{
			name: "the first alternative", leaf: alternatives, others: hub{"one": "{}", "two": "{}"}, cluster: clusterWith("c1", ""),
			want: []string{"1: one<leaf (c1)", "2: leaf (c1)"},
		},
		{
			name: "the first that is registered", leaf: alternatives, others: hub{"two": "{}"}, cluster: clusterWith("c1", ""),
			want: []string{"1: two<leaf (c1)", "2: leaf (c1)"},
		},
		{
			name: "the one that is installed", leaf: alternatives, others: hub{"one": "{}", "two": "{}"}, cluster: clusterWith("c1", "~two"),
			want: []string{
				"1: leaf (c1)",
				"c1: 'leaf' will not work until an installed add-on does: Required: one of addon 'one' or addon 'two'; none is available. " +
					"(one: not installed; two: Available=False, Down, since 2026-08-01T10:00:00Z)",
			},
		},
		{
			name: "the one that is named", leaf: alternatives, addOns: "two", others: hub{"one": "{}", "two": "{}"}, cluster: clusterWith("c1", ""),
			want: []string{"1: two<leaf (c1)", "2: leaf (c1)"},
		},
		{
			name: "the one that another add-on needs", leaf: alternatives, addOns: "zoo",
			others: hub{"one": "{}", "two": "{}", "zoo": needing("{name: two}")}, cluster: clusterWith("c1", ""),
			want: []string{"1: two<leaf,zoo (c1)", "2: leaf (c1), zoo (c1)"},
		},
		{
			name: "what the one that is installed needs", leaf: alternatives,
			others: hub{"one": "{}", "two": needing("{name: base}"), "base": "{}"}, cluster: clusterWith("c1", "two"),
			want: []string{"1: base<two (c1)", "2: leaf (c1)"},
		},
		{
			name: "none that is registered", leaf: alternatives, cluster: clusterWith("c1", ""),
			want: []string{"1: leaf (c1)", "! c1: 'leaf' needs one of one, two: none is installed, and none of them can be"},
		},
		{
			name: "none that waits for the add-on itself", leaf: alternatives, others: hub{"one": needing("{name: leaf}"), "two": "{}"},
			cluster: clusterWith("c1", ""),
			want:    []string{"1: two<leaf (c1)", "2: leaf (c1)"},
		},
		{
			name: "an API that is served", leaf: api, others: hub{"one": provider}, cluster: serving(clusterWith("c1", ""), "True"),
			want: []string{"1: leaf (c1)"},
		},
		{
			name: "its only provider", leaf: api, others: hub{"one": provider}, cluster: serving(clusterWith("c1", ""), "False"),
			want: []string{"1: one<leaf (c1)", "2: leaf (c1)"},
		},
		{
			name: "its only provider, where nothing reports", leaf: api, others: hub{"one": provider}, cluster: clusterWith("c1", ""),
			want: []string{"1: one<leaf (c1)", "2: leaf (c1)"},
		},
		{
			name: "the provider that is installed", leaf: api, others: hub{"one": provider, "two": provider}, cluster: clusterWith("c1", "two"),
			want: []string{"1: leaf (c1)"},
		},
		{
			name: "several providers", leaf: api, others: hub{"one": provider, "two": provider}, cluster: serving(clusterWith("c1", ""), "False"),
			want: []string{"1: leaf (c1)", "! c1: 'leaf' needs API Tunnel, which any of 'one', 'two' provides: name the one to install"},
		},
		{
			name: "the provider that is named", leaf: api, addOns: "two",
			others: hub{"one": provider, "two": provider}, cluster: serving(clusterWith("c1", ""), "False"),
			want: []string{"1: two<leaf (c1)", "2: leaf (c1)"},
		},
		{
			name: "no provider", leaf: api, cluster: serving(clusterWith("c1", ""), "False"),
			want: []string{"1: leaf (c1)", "! c1: 'leaf' needs API Tunnel, which is not served, and no registered add-on provides it"},
		},
		{
			name: "no provider, where nothing reports", leaf: api, cluster: clusterWith("c1", ""),
			want: []string{
				"1: leaf (c1)",
				"c1: 'leaf' needs API Tunnel, and it is not known whether that is served; no registered add-on provides it",
			},
		},
		{
			name: "an API of the hub", leaf: needing("{name: t, api: {kind: Tunnel, servedBy: Hub}}"),
			others: hub{"one": provider}, cluster: clusterWith("c1", ""),
			want: []string{
				"1: leaf (c1)",
				"c1: 'leaf' needs API Tunnel on the hub, and it is not known to be served; no add-on on this cluster can change that",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			addOns := hub{"leaf": test.leaf}
			for name, spec := range test.others {
				addOns[name] = spec
			}
			wanted := steps.Installation{AddOns: append([]string{"leaf"}, strings.Fields(test.addOns)...)}
			plan := steps.Install(addOns.evaluator(t), wanted, []steps.Cluster{test.cluster})
			if diff := cmp.Diff(test.want, linesOf(plan)); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

func TestWhatPlacementsInstall(t *testing.T) {
	addOns := hub{"leaf": needing("{name: base}"), "base": "{" + placed + "}"}
	installs := func(cluster steps.Cluster) []string {
		return linesOf(steps.Install(addOns.evaluator(t), steps.Installation{AddOns: []string{"leaf"}}, []steps.Cluster{cluster}))
	}
	removes := func(cluster steps.Cluster) []string {
		return linesOf(steps.Remove(addOns.evaluator(t), steps.Removal{AddOns: []string{"base", "leaf"}}, []steps.Cluster{cluster}))
	}
	for _, test := range []struct {
		name string
		got  []string
		want []string
	}{
		{"selected", installs(selected(clusterWith("c1", ""), "base")), []string{
			"1: base<leaf by OCM (c1)", "2: leaf (c1)",
			"c1: 'base' is about to be installed by Open Cluster Management: a Placement selects the cluster",
		}},
		{"not selected", installs(selected(clusterWith("c1", ""))), []string{
			"1: base<leaf by OCM (c1)", "2: leaf (c1)", "! c1: 'base' is installed by Placements: 'places/edge' has to select the cluster",
		}},
		{"not read", installs(clusterWith("c1", "")), []string{
			"1: base<leaf by OCM (c1)", "2: leaf (c1)",
			"! c1: 'base' is installed by Placements: 'places/edge' has to select the cluster, and whether it does could not be read",
		}},
		{"removed while selected", removes(selected(clusterWith("c1", "base leaf"), "base")), []string{
			"1: leaf (c1)", "2: base (c1)",
			"! c1: 'base' is installed by Placements: 'places/edge' may not select the cluster, else it is installed again: " +
				"change the Placement, or take it from ClusterManagementAddOn 'base'",
		}},
		{"removed where none selects", removes(selected(clusterWith("c1", "base leaf"))), []string{"1: leaf (c1)", "2: base (c1)"}},
	} {
		if diff := cmp.Diff(test.want, test.got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", test.name, diff)
		}
	}
}

func TestVersionsOfWhatIsInstalled(t *testing.T) {
	leaf := fixture.Deployed(fixture.Specified(t, "leaf", "{}"))
	base := fixture.Versioned(fixture.Specified(t, "base", "{}"), "1.0.0")
	old := fixture.Specified(t, "old", `{dependencies: [{name: leaf, version: "< 2"}]}`)
	v2 := fixture.Template("leaf", "leaf-2", `[{name: base, version: ">= 2"}]`)
	declared := evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{leaf, base, old}, v2))
	runs := map[string]versions.Templates{"leaf": {Name: "leaf-2", Running: "2.0.0"}}
	wanted := steps.Installation{AddOns: []string{"leaf"}, Templates: runs}
	want := []string{
		"1: base<leaf (c1)", "2: leaf (c1)",
		"! c1: 'leaf' requires base in version '>= 2' (version 1.0.0 from its ClusterManagementAddOn)",
		"! c1: 'old' requires leaf in version '< 2' (version 2.0.0 from its AddOnTemplate)",
	}
	if diff := cmp.Diff(want, linesOf(steps.Install(declared, wanted, []steps.Cluster{clusterWith("c1", "old")}))); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
