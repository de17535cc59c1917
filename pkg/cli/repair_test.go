package cli

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

// versionFleet returns a fleet with store in version 1.5.0 on two clusters. The arguments are the ranges of its dependents by name, as
// "app: '>=2', web: '~2.1'". The templates are versions of store that the hub has.
func versionFleet(declarations map[string]string, templates ...string) snapshot.Content {
	content := snapshot.Content{Taken: fixture.Now.Time, Registrations: fixture.Registrations("store")}
	for name, declaration := range declarations {
		content.Registrations = append(content.Registrations, fixture.Annotated(name, declaration))
	}
	for _, version := range templates {
		template := addonv1alpha1.AddOnTemplate{}
		template.Name, template.Spec.AddonName = "store-"+version, "store"
		template.Annotations = map[string]string{addonv1alpha1.AddOnVersionAnnotation: version}
		content.Templates = append(content.Templates, template)
	}
	for _, cluster := range []string{"east", "west"} {
		content.Clusters = append(content.Clusters, managedCluster(cluster, false, true))
		facts := dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: cluster, Generation: 1}}
		facts.Spec.AddOns = []dependencyv1alpha1.AddOn{{Name: "store"}}
		facts.Status.ObservedGeneration = 1
		facts.Status.AddOns = []dependencyv1alpha1.AddOnFact{{AddOn: dependencyv1alpha1.AddOn{Name: "store"}}}
		content.Facts = append(content.Facts, facts)
		store := installed(cluster, "store", true, "ManagedClusterAddOnLeaseUpdated", 0)
		store.Annotations = map[string]string{addonv1alpha1.AddOnVersionAnnotation: "1.5.0"}
		content.AddOns = append(content.AddOns, store)
		for name := range declarations {
			content.AddOns = append(content.AddOns, installed(cluster, name, true, "ManagedClusterAddOnLeaseUpdated", 0))
		}
	}
	return content
}

func on(version string) string {
	return "- {name: store, version: '" + version + "', message: It needs this.}\n"
}

func conflict(addOn string) string {
	return "- {name: " + addOn + ", type: Conflicts, message: Both write.}\n"
}

func TestWhyNamesRangesAndRepairs(t *testing.T) {
	both := map[string]string{"app": on(">= 2.0"), "web": on("~2.1")}
	withLegacy := map[string]string{"app": on(">= 2.0"), "web": on("~2.1"), "legacy": on("< 2.0")}
	for name, test := range map[string]struct {
		content snapshot.Content
		want    []string
	}{
		"the lowest release in all ranges": {versionFleet(both), []string{
			"ranges     >= 2.0 of 'app' (2); ~2.1 of 'web' (2)\n",
			"repair     version 2.1.0 of store is in all of these ranges, and breaks no other dependency\n",
		}},
		"the newest known version": {versionFleet(both, "1.9.0", "2.1.3", "2.1.4", "3.0.0"), []string{"version 2.1.4 of store is in"}},
		"another dependent": {versionFleet(withLegacy), []string{
			"repair     version 2.1.0 of store is in all of these ranges, but would break legacy (2): Required addon 'store'", "It needs this",
		}},
		"no version": {versionFleet(map[string]string{"app": on(">= 2.0"), "web": on("< 1.2")}), []string{
			"ranges     < 1.2 of 'web' (2); >= 2.0 of 'app' (2)\n",
			"repair     no release of store is in all of these ranges: another version of a dependent is needed, or a policy that ",
		}},
		"two edges of an add-on": {
			versionFleet(map[string]string{"app": on(">= 2.0") + "- {name: again, addOn: store, version: '>= 2.3', message: It needs this.}\n"}),
			[]string{"ranges     >= 2.0 of 'app' (2); >= 2.3 of 'app' (2)\n", "version 2.3.0 of store"},
		},
		"an installation that conflicts": {
			versionFleet(map[string]string{"app": "- {name: cache, message: Slow.}\n", "other": conflict("cache")}),
			[]string{"1. cache is not installed\n", "repair     the installation of cache would break other (2): "},
		},
		"a conflict whose other side is required": {
			versionFleet(map[string]string{"app": "- {name: store, message: It needs this.}\n", "other": conflict("store")}),
			[]string{"1. store is installed, which conflicts\n", "repair     the removal of store would break app (2): Required addon"},
		},
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

// TestPathHasRangesAndRepair tests the notes below the way to a cause.
func TestPathHasRangesAndRepair(t *testing.T) {
	fleet := file(t, versionFleet(map[string]string{"app": on(">= 2.0"), "legacy": on("< 2.0")}))
	got := run(t, "why", "app", "-n", "east", "--from", fleet)
	for _, want := range []string{
		"note  failing ranges: >= 2.0 of 'app' (1)\n", "note  version 2.0.0 of store is in all of these ranges, but would break legacy (1):",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	expectRun(t, "why -o jsonpath={.items[0].ranges[0].range}/{.items[0].repair.version}/{.items[0].repair.breaks[0].addOn} --from "+fleet,
		">= 2.0/2.0.0/legacy")
}

// TestVersionsWithoutInterlock tests that versions on objects of the hub count on a hub without Interlock, and others are not known.
func TestVersionsWithoutInterlock(t *testing.T) {
	content := versionFleet(map[string]string{"app": on(">= 2.0")})
	content.WithoutInterlock = true
	expectRun(t, "why --from "+file(t, content), "1 root cause", "1. store has a version that is not accepted\n")
	for i := range content.AddOns {
		content.AddOns[i].Annotations = nil
	}
	expectRun(t, "why --from "+file(t, content), "No root cause", "not known, such as app on east: store\n")
}
