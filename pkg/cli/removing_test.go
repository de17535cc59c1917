package cli

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

// removalFleet returns a fleet in which app requires store. On held, store is being removed, and a finalizer holds it. On stopped, its
// agent does not work any more, either. On leaving, app is being removed and store is missing. detached is being detached.
func removalFleet() snapshot.Content {
	content := snapshot.Content{Taken: fixture.Now.Time, Registrations: fixture.Registrations("app: store, store")}
	add := func(cluster, name string, available, removing bool, finalizers ...string) {
		addOn := installed(cluster, name, available, "ManagedClusterAddOnLeaseUpdated", 0)
		if removing {
			requested := metav1.NewTime(fixture.Now.Add(-time.Hour))
			addOn.DeletionTimestamp, addOn.Finalizers = &requested, finalizers
		}
		content.AddOns = append(content.AddOns, addOn)
	}
	for _, cluster := range []string{"held", "stopped", "leaving", "detached"} {
		content.Clusters = append(content.Clusters, managedCluster(cluster, false, true))
		add(cluster, "app", true, cluster == "leaving", "example.com/backup")
	}
	add("held", "store", true, true, "example.com/backup")
	add("stopped", "store", false, true, addonv1alpha1.WaitForDependentsFinalizer, "example.com/backup")
	detachedSince := metav1.NewTime(fixture.Now.Add(-time.Hour))
	content.Clusters[3].DeletionTimestamp = &detachedSince
	return content
}

// TestRemovals tests what verbs print about add-ons that are being removed, and clusters that are being detached.
func TestRemovals(t *testing.T) {
	fleet := file(t, removalFleet())
	for _, test := range []struct {
		command     string
		want, never []string
	}{
		{
			"why",
			[]string{
				"1 root cause of add-ons on 3 managed clusters:",
				"1. store is being removed, and not available: ManagedClusterAddOnLeaseUpdated\n",
				"note       store on stopped is being removed since 2026-08-01T09:05:00Z, and the finalizers " +
					"dependency.addon.open-cluster-management.io/wait-for-dependents, example.com/backup hold it. Interlock removes its finalizer " +
					"once the add-ons that require it and are being removed too are gone",
				"1 managed cluster is being detached, and left out: 'detached'\n",
				"store on held is being removed since 2026-08-01T09:05:00Z, and the finalizer example.com/backup holds it. 'app' will not work " +
					"without it\n",
				"app on leaving is being removed",
			},
			[]string{"addon enable", "addon install", "repair its agent"},
		},
		{"why app -n detached", []string{"No root cause of app is known on detached, which is being detached.\n"}, []string{"addon enable"}},
		{"why app -n leaving", []string{"No root cause of app is known on leaving.\n", "app on leaving is being"}, []string{"addon enable"}},
		{"why app -n stopped", []string{"note  store on stopped is being removed", "← root cause"}, []string{"repair its agent"}},
		{"why -o jsonpath={.removing[*].requiredBy[*]}{.detached}", []string{`app app["detached"]`}, nil},
		{"tree app -n held", []string{"└── store (being removed)   Required   Satisfied   True"}, nil},
		{"tree app -n held -o jsonpath={.items[0].nodes[0].deletion.finalizers}", []string{`["example.com/backup"]`}, nil},
		{
			"status store -A",
			[]string{"held        store   True        -          10m     ManagedClusterAddOnLeaseUpdated (being removed)   being removed since " +
				"2026-08-01T09:05:00Z, and the finalizer example.com/backup holds it"},
			nil,
		},
		{"status store -n held -o jsonpath={[0].deletion.since}", []string{"2026-08-01T09:05:00Z"}, nil},
		{"wait app -n held --timeout 0", []string{"note  store on held is being removed", "'app' will not work"}, []string{"exit code"}},
		{"wait store -n held --timeout 0", []string{"store is being removed since 2026-08-01T09:05:00Z", "exit code 1"}, nil},
	} {
		got := run(t, append(strings.Fields(test.command), "--from", fleet)...)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", test.command, want, got)
			}
		}
		for _, never := range test.never {
			if strings.Contains(got, never) {
				t.Errorf("%s: %q in\n%s", test.command, never, got)
			}
		}
	}
}

// TestTreeOfRemovalIsNotWell tests that a cluster with an add-on that is being removed is not one where all is well.
func TestTreeOfRemovalIsNotWell(t *testing.T) {
	content := removalFleet()
	content.Clusters = append(content.Clusters, managedCluster("well", false, true))
	for _, name := range []string{"app", "store"} {
		content.AddOns = append(content.AddOns, installed("well", name, true, "ManagedClusterAddOnLeaseUpdated", 0))
	}
	got := run(t, "tree", "app", "--from", file(t, content))
	if !strings.Contains(got, "well: all is well\n") || strings.Contains(got, "held: all is well") {
		t.Error(got)
	}
}
