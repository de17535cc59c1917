package overview_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/mixedfleet"
)

// TestExplanation tests how the details of a managed cluster explain the states of its add-ons.
func TestExplanation(t *testing.T) {
	finder := overview.New(snapshot.New(mixedfleet.Content(1000)), options(mixedfleet.Content(0)))
	for place, want := range map[string]struct {
		state       overview.State
		explanation string
		run         string
	}{
		"cluster0000/managed-serviceaccount": {
			overview.Down, "Other add-ons on the cluster fail because of it.",
			"kubectl describe managedclusteraddon managed-serviceaccount -n cluster0000",
		},
		"cluster0013/cluster-proxy": {
			overview.Down, "No Required dependency on the cluster fails because of it.",
			"kubectl describe managedclusteraddon cluster-proxy -n cluster0013",
		},
		"cluster0000/cluster-gateway": {overview.Failing, "", "kubectl addon why cluster-gateway -n cluster0000"},
		"cluster0019/multicluster-kueue-manager": {
			overview.Stale, "All its dependencies are satisfied, and its conditions do not show that: addon-manager, or the agent that sets " +
				"Available, has not updated them.", "kubectl addon doctor",
		},
		"cluster0023/application-portal": {
			overview.Waiting, "Not installed yet, although all its dependencies are satisfied. addon-manager lets it be installed if it " +
				"runs with --lifecycle. kubectl addon doctor checks that.", "kubectl addon doctor",
		},
		"cluster0041/permission-user": {
			overview.Held, "It is not known whether permissions is satisfied. Until it is, the last conditions count.",
			"kubectl addon why permission-user -n cluster0041",
		},
		"cluster0031/work-manager": {
			overview.Unreported, "Its agent has not reported anything from this cluster yet: it has no condition Available.",
			"kubectl describe managedclusteraddon work-manager -n cluster0031",
		},
		"cluster0029/application-portal": {
			overview.Leaving,
			"application-portal on cluster0029 is being removed since 2026-08-01 10:00:00 UTC, and the finalizer example.com/cleanup holds it",
			"kubectl describe managedclusteraddon application-portal -n cluster0029",
		},
		"cluster0037/work-manager": {
			overview.Leaving, "It is removed with its managed cluster.", "kubectl describe managedclusteraddon work-manager -n cluster0037",
		},
		"cluster0013/cluster-gateway": {
			overview.Limited, "It works, and an Optional dependency fails.", "kubectl describe managedclusteraddon cluster-gateway -n cluster0013",
		},
		"cluster0011/work-manager": {overview.Lost, "", ""},
		"cluster0001/work-manager": {overview.Working, "", ""},
	} {
		name, addOn, _ := strings.Cut(place, "/")
		cluster, _ := finder.Cluster(name)
		for _, got := range cluster.AddOns {
			if got.Name == addOn && (got.State != want.state || got.Explanation != want.explanation || got.Run != want.run) {
				t.Errorf("%s: %s %q %q", place, got.State, got.Explanation, got.Run)
			}
		}
		if len(cluster.AddOns) < 9 {
			t.Errorf("%s has %d add-ons", name, len(cluster.AddOns))
		}
	}
}

// TestWaitIsExplained tests the explanation of an add-on that is not installed yet, by its dependencies.
func TestWaitIsExplained(t *testing.T) {
	for name, test := range map[string]struct {
		change func(content *snapshot.Content)
		want   string
	}{
		"a Required dependency fails": {
			func(content *snapshot.Content) {
				content.AddOns[1].Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionFalse, "Stopped")}
			},
			"Not installed yet: it waits until its dependencies are satisfied.",
		},
		"only an Optional dependency fails": {
			func(content *snapshot.Content) {
				content.AddOns[2].Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionFalse, "Stopped")}
			},
			"Not installed yet, although all its dependencies are satisfied. addon-manager lets it be installed if it runs with " +
				"--lifecycle. kubectl addon doctor checks that.",
		},
		"a contradiction": {
			func(content *snapshot.Content) {
				content.AddOns[0].Annotations[addonv1alpha1.GateCauseAnnotation] = addonv1alpha1.GateCauseContradiction
			},
			"Not installed: it contradicts add-ons that are installed on this cluster.",
		},
	} {
		content := oneCluster()
		content.AddOns[0].Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
		test.change(&content)
		for _, addOn := range find(content).Clusters[0].AddOns {
			if addOn.Name == "gateway" && addOn.Explanation != test.want {
				t.Errorf("%s: %q", name, addOn.Explanation)
			}
		}
	}
}

// TestLostClusterShowsLastKnownState tests the notice and the only command about a managed cluster that cannot be reached.
func TestLostClusterShowsLastKnownState(t *testing.T) {
	content := mixedfleet.Content(60)
	finder := overview.New(snapshot.New(content), options(content))
	for name, want := range map[string][3]string{
		"cluster0011": {
			"The hub has not heard from cluster0011 since 2026-08-01 10:00:00 UTC. Everything below is the last known state.",
			"Add-ons on cluster0011, as last known.", "kubectl describe managedcluster cluster0011",
		},
		"cluster0037": {
			"cluster0037 will be detached from the hub, and its add-ons are removed with it.",
			"Add-ons on cluster0037: 0 of 10 work.", "kubectl describe managedcluster cluster0037",
		},
		"cluster0001": {"", "Add-ons on cluster0001: 10 of 10 work.", ""},
	} {
		cluster, _ := finder.Cluster(name)
		if got := [3]string{cluster.Notice, cluster.Caption, cluster.Run}; got != want {
			t.Errorf("%q", got)
		}
	}
}
