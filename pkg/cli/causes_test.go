package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/fleet/factsobject"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

// small returns a fleet of a single managed cluster, c1, where these add-ons fail.
func small(declarations, failing string) snapshot.Content {
	content := snapshot.Content{Taken: fixture.Now.Time, Registrations: fixture.Registrations(declarations)}
	content.Clusters = []clusterv1.ManagedCluster{managedCluster("c1", true, true)}
	for name := range strings.FieldsSeq(failing) {
		content.AddOns = append(content.AddOns, installed("c1", name, false, condition.Reasons[0], 1))
	}
	return content
}

func TestCycleIsOneCause(t *testing.T) {
	content := small("a: b, b: c, c: a, d: a", "a b c d")
	got := run(t, "why", "--from", file(t, content))
	for _, want := range []string{
		"1 root cause of add-ons", "1. dependency cycle: a → b → c → a\n", "4 of 4 add-ons",
		"run        kubectl edit clustermanagementaddon a", "make one of these dependencies Optional",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestWhyHasNextSteps tests that why prints only commands that can repair the cause.
func TestWhyHasNextSteps(t *testing.T) {
	placed := small("a: b, b", "a")
	placed.Registrations[1].Spec.InstallStrategy = ocmv1alpha1.InstallStrategy{
		Type:       ocmv1alpha1.AddonInstallStrategyPlacements,
		Placements: []ocmv1alpha1.PlacementStrategy{{PlacementRef: ocmv1alpha1.PlacementRef{Namespace: "default", Name: "all"}}},
	}
	orphan := small("a: b, b", "a")
	orphan.Clusters = nil
	api := addonv1alpha1.AddonAPI{Group: "g.io", Version: "v1", Kind: "Kind"}
	serving := small("a, b, c", "a")
	serving.Registrations[0].Spec.Dependencies = []addonv1alpha1.AddonDependency{
		{Name: "kinds", API: &addonv1alpha1.DependencyAPI{AddonAPI: api}, Message: "It makes kinds."},
	}
	facts := factsobject.Key("c1")
	serving.Facts = []dependencyv1alpha1.ManagedClusterFacts{{ObjectMeta: metav1.ObjectMeta{Namespace: facts.Namespace, Name: facts.Name}}}
	serving.Facts[0].Status.APIs = []dependencyv1alpha1.APIFact{{API: dependencyv1alpha1.API(api), Served: metav1.ConditionFalse}}
	unreported := serving
	unreported.Facts = []dependencyv1alpha1.ManagedClusterFacts{requesting("c1", api)}
	silent := func(reason string, agent addonv1alpha1.ManagedClusterAddOn) snapshot.Content {
		content, addOn := small("a: b, b", "a"), installed("c1", "b", false, reason, 1)
		addOn.Annotations, addOn.Status.Namespace = agent.Annotations, agent.Status.Namespace
		if reason == "" {
			addOn.Status.Conditions = nil
		}
		content.AddOns = append(content.AddOns, addOn)
		return content
	}
	undeployed := func(config string) snapshot.Content {
		content := silent("", addonv1alpha1.ManagedClusterAddOn{})
		last := content.AddOns[len(content.AddOns)-1]
		last.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{awaited("c1", config)}
		return content
	}
	var elsewhere, hostile addonv1alpha1.ManagedClusterAddOn
	elsewhere.Annotations, elsewhere.Status.Namespace = map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: "hosting"}, "bs"
	hostile.Status.Namespace = "$(reboot)"
	large := small("a: b, b", "a")
	for i := range 600 {
		name := fmt.Sprintf("managed-cluster-%03d", i)
		large.Clusters = append(large.Clusters, managedCluster(name, true, true))
		large.AddOns = append(large.AddOns, installed(name, "a", false, condition.Reasons[0], 1))
	}
	provided := small("a, b, c", "a")
	provided.Facts = serving.Facts
	provided.Registrations[0].Spec, provided.Registrations[1].Spec.Provides = serving.Registrations[0].Spec, []addonv1alpha1.AddonAPI{api}
	for name, test := range map[string]struct {
		content snapshot.Content
		want    []string
	}{
		"it can be enabled": {small("a: b, b", "a"), []string{"run        clusteradm addon enable --names b --clusters c1\n"}},
		"its agent stopped": {silent("ManagedClusterAddOnLeaseUpdateStopped", addonv1alpha1.ManagedClusterAddOn{}), []string{
			"note       repair its agent on c1, in namespace open-cluster-management-agent-addon: ",
			"it last renewed its lease b at about 2026-08-01 09:49 UTC. ",
			"The command only shows more\n", "run        kubectl describe managedclusteraddon b -n c1\n",
		}},
		"its agent has not started": {silent("ManagedClusterAddOnLeaseNotFound", elsewhere), []string{
			"repair its agent on hosting, in namespace bs: it has not made its lease b",
		}},
		"its own check fails": {silent("ProbeUnavailable", addonv1alpha1.ManagedClusterAddOn{}), []string{": its health check fails."}},
		"it has not reported": {silent("", addonv1alpha1.ManagedClusterAddOn{}), []string{": it has not reported yet."}},
		"its settings do not exist": {undeployed("interlock-b"), []string{
			"note       OCM deploys nothing until AddOnDeploymentConfig c1/interlock-b exists: addon-manager with --lifecycle creates it, " +
				"and an event SettingUnset says what keeps it from that\n",
			"run        kubectl get events -n c1 --field-selector reason=SettingUnset\n",
		}},
		"its own configuration does not exist": {undeployed("mine"), []string{
			"note       OCM deploys nothing until AddOnDeploymentConfig c1/mine exists: create it, or correct spec.configs",
			"run        kubectl describe managedclusteraddon b -n c1\n",
		}},
		"a name that a shell could run": {silent("ProbeUnavailable", hostile), []string{
			"run        kubectl describe managedclusteraddon b -n c1\n",
		}},
		"it is not registered": {small("a: b", "a"), []string{
			"b has no ClusterManagementAddOn on this hub", "correct what a declares", "run        kubectl get clustermanagementaddons\n",
		}},
		"placements install it": {placed, []string{"installStrategy Placements", "run        kubectl get placement all -n default -o yaml\n"}},
		"no managed cluster":    {orphan, []string{"c1 has no ManagedCluster", "run        kubectl get managedclusters\n"}},
		"an API": {serving, []string{
			"Kind.g.io/v1 is not served", "message    Required API 'Kind.g.io/v1' is not served. It makes kinds.",
			"no add-on is declared to provide the API",
			"run        kubectl get managedclusterfacts c1 -n c1 -o yaml\n",
		}},
		"an API that no agent reports": {unreported, []string{
			"Kind.g.io/v1 is not known to be served", "note       addon-agent has to report whether", "run        kubectl addon doctor\n",
		}},
		"many clusters": {large, []string{
			"run        clusteradm addon enable --names b --clusters c1,managed-cluster-000,",
			"run        clusteradm addon enable --names b --clusters managed-cluster-149,", "--clusters managed-cluster-599\n",
		}},
		"an API that an add-on brings": {provided, []string{
			"note       b provides the API", "run        clusteradm addon enable --names b --clusters c1\n",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, "why", "--from", file(t, test.content))
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
}

// awaited returns the reference that OCM stores while an AddOnDeploymentConfig does not exist.
func awaited(namespace, name string) ocmv1alpha1.ConfigReference {
	return ocmv1alpha1.ConfigReference{
		ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addondeploymentconfigs"},
		DesiredConfig:       &ocmv1alpha1.ConfigSpecHash{ConfigReferent: ocmv1alpha1.ConfigReferent{Namespace: namespace, Name: name}},
	}
}

// The dependency itself declares nothing, and may have no dependent yet.
func TestWhyAnAddOnIsNotDeployed(t *testing.T) {
	for name, test := range map[string]struct {
		available []metav1.Condition
		hash      string
		want      bool
	}{
		"nothing is reported": {want: true},
		"its lease is missing": {available: []metav1.Condition{{
			Type: "Available", Status: metav1.ConditionUnknown, Reason: "ManagedClusterAddOnLeaseNotFound",
		}}, want: true},
		"it runs with its former configuration": {available: []metav1.Condition{{Type: "Available", Status: metav1.ConditionTrue}}},
		"its configuration exists":              {hash: "hash"},
	} {
		t.Run(name, func(t *testing.T) {
			content := small("b", "b")
			addOn := content.AddOns[0]
			addOn.Status.Conditions = test.available
			reference := awaited("c1", "interlock-b")
			reference.DesiredConfig.SpecHash = test.hash
			addOn.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{reference}
			for _, arguments := range [][]string{{"b", "-n", "c1"}, {"b"}, nil} {
				got := run(t, append([]string{"why", "--from", file(t, content)}, arguments...)...)
				words := " although no dependency fails"
				if arguments == nil { // other add-ons count, too
					words = ", and no Required dependency fails because of it"
				}
				note := "1 add-on is not available" + words + ", such as b on c1: OCM deploys nothing until " +
					"AddOnDeploymentConfig c1/interlock-b exists: addon-manager with --lifecycle creates it, and an event SettingUnset says " +
					"what keeps it from that"
				if strings.Contains(got, note) != test.want {
					t.Errorf("%v: got\n%s", arguments, got)
				}
			}
		})
	}
}

// requesting returns the facts of a cluster whose agent has not reported for a long time.
func requesting(cluster string, api addonv1alpha1.AddonAPI) dependencyv1alpha1.ManagedClusterFacts {
	facts := dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: cluster}}
	facts.Spec.APIs = []dependencyv1alpha1.APIRequest{{API: dependencyv1alpha1.API(api)}}
	return facts
}

func TestTreeShowsNamesOfEdges(t *testing.T) {
	content := small("a, b, c", "a")
	content.AddOns = append(content.AddOns, installed("c1", "b", true, "Works", 1))
	api := addonv1alpha1.AddonAPI{Group: "g.io", Kind: "Kind"}
	content.Registrations[0].Spec.Dependencies = []addonv1alpha1.AddonDependency{
		{Name: "tunnel", AddOn: "b"}, {Name: "kinds", API: &addonv1alpha1.DependencyAPI{AddonAPI: api}},
	}
	content.Registrations[1].Spec.Provides = []addonv1alpha1.AddonAPI{api}
	content.Facts = []dependencyv1alpha1.ManagedClusterFacts{requesting("c1", api)}
	for verb, want := range map[string]string{
		"tree a":              "├── b (as tunnel) ",
		"tree a -n c1":        "└── Kind.g.io (as kinds) (provided by 'b') ",
		"tree b --dependents": "└── a (as tunnel) ",
		"why a -n c1":         "└── Kind.g.io (as kinds)  Required  APINotServed  ← root cause",
	} {
		if got := run(t, append(strings.Fields(verb), "--from", file(t, content))...); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", verb, want, got)
		}
	}
}

// TestDeepDiamondIsDrawnOnce tests 40 layers that depend on both add-ons of the next layer. There are 2^40 paths.
func TestDeepDiamondIsDrawnOnce(t *testing.T) {
	var declared, failing []string
	for layer := range 40 {
		for _, side := range []string{"l", "r"} {
			name := fmt.Sprintf("%s%02d", side, layer)
			declared = append(declared, fmt.Sprintf("%s: l%02d r%02d", name, layer+1, layer+1))
			failing = append(failing, name)
		}
	}
	fleet := file(t, small(strings.Join(declared, ", "), strings.Join(failing, " ")))
	for _, test := range []struct {
		verb  string
		lines int
	}{{"tree l00", 200}, {"tree l40 --dependents", 200}, {"why l00 -n c1", 100}} {
		got := run(t, append(strings.Fields(test.verb), "--from", fleet)...)
		if lines := strings.Count(got, "\n"); lines < 40 || lines > test.lines {
			t.Errorf("%s has %d lines", test.verb, lines)
		}
		if strings.HasPrefix(test.verb, "tree") && !strings.Contains(got, "↑") {
			t.Errorf("%s does not mark branches that are drawn above", test.verb)
		}
	}
}

// TestNamesInFileCannotControlTerminal tests a file with a name that controls the terminal.
func TestNamesInFileCannotControlTerminal(t *testing.T) {
	content := small("a: b, b", "")
	evil := "c\x1b[31m"
	content.Clusters = append(content.Clusters, managedCluster(evil, true, true))
	content.AddOns = append(content.AddOns, installed(evil, "a", false, condition.Reasons[0], 1))
	fleet := file(t, content)
	for _, args := range [][]string{
		{"why"}, {"why", "-o", "wide"}, {"why", "a", "-n", evil}, {"why", "b", "-n", evil}, {cobra.ShellCompNoDescRequestCmd, "why", "-n", ""},
	} {
		got := run(t, slices.Insert(slices.Clone(args), slices.Index(args, "why")+1, "--from="+fleet)...)
		if strings.Contains(got, "\x1b") || !strings.Contains(got, "c1") && !strings.Contains(got, "c [31m") {
			t.Errorf("%q: %q", args, got)
		}
	}
}

// TestWhyNamesOutdatedConditions tests stored conditions that contradict the evaluation. Without a failing dependency, why must not report
// that all add-ons work.
func TestWhyNamesOutdatedConditions(t *testing.T) {
	outdated := small("a: b, b", "a")
	outdated.AddOns = append(outdated.AddOns, installed("c1", "b", true, "Running", 1))
	lost := small("a: b, b", "a")
	lost.Clusters = []clusterv1.ManagedCluster{managedCluster("c1", true, false)}
	unusable := small("", "")
	unusable.Registrations = append(unusable.Registrations, fixture.Annotated("bad", "- name: ["))
	unusable.AddOns = append(unusable.AddOns, installed("c1", "bad", true, "Running", 1))
	optional := small("a: b?", "")
	optional.AddOns = append(optional.AddOns, installed("c1", "a", true, "Running", 1))
	for name, test := range map[string]struct {
		content       snapshot.Content
		verb          string
		parts, absent []string
	}{
		"addon-manager is down": {outdated, "why", []string{
			"No root cause of add-ons is known on 1 managed cluster.\n",
			"1 add-on is Degraded or not available although all dependencies are satisfied: addon-manager, " +
				"or the agent that sets Available, has not updated the condition, " +
				"such as a on c1: RequiredDependencyNotSatisfied\nrun   kubectl addon doctor\n",
		}, []string{"although no dependency fails", "No Required dependency"}},
		"wait has the same message": {outdated, "wait a -n c1", []string{"Degraded is still True although", "run  kubectl addon doctor\n"}, nil},
		"a cluster is lost": {lost, "why a -n c1", []string{
			"No root cause of a is known on c1, which cannot be reached.\n",
			"1 add-on is Degraded by the last known verdicts, and nothing new is known, such as a on c1: RequiredDependencyNotSatisfied\n",
		}, nil},
		"a declaration is unusable": {
			unusable, "why bad", []string{"No root cause of bad is known", "The dependencies of bad are not known: "}, nil,
		},
		"an Optional dependency":        {optional, "why a -n c1", []string{"An Optional dependency fails: b is not installed\n"}, nil},
		"wait refers to it":             {optional, "wait a --optional", []string{"run  kubectl addon why a -n c1 --from "}, nil},
		"of the fleet, it is not shown": {optional, "why a", []string{"No Required dependency keeps a from working"}, []string{"Optional"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := run(t, append(strings.Fields(test.verb), "--from", file(t, test.content))...)
			for _, want := range test.parts {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			for _, absent := range test.absent {
				if strings.Contains(got, absent) {
					t.Errorf("%q in\n%s", absent, got)
				}
			}
		})
	}
}
