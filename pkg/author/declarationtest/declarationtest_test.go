package declarationtest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/author/declarationtest"
	"open-cluster-management.io/interlock/test/fixture"
)

// The tests of an add-on check the clusters that it works on, and the changes of versions
// that would break it.
func Example() {
	hub, err := declarationtest.Read("testdata/gateway.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	cluster := declarationtest.Cluster{
		APIs:   []addonv1alpha1.AddonAPI{{Group: "snapshot.storage.k8s.io", Version: "v1", Kind: "VolumeSnapshot"}},
		AddOns: []declarationtest.AddOn{{Name: "keys"}, {Name: "tunnel", Version: "0.9.3"}, {Name: "gateway", Template: "gateway-1"}},
	}
	fmt.Println("now:", hub.Check("gateway", cluster))
	next := cluster.With(declarationtest.AddOn{Name: "gateway", Template: "gateway-2"})
	fmt.Println("next:", hub.CheckChange(cluster, next))
	// Output:
	// now: <nil>
	// next: gateway: Required addon 'tunnel' is not installed or not available in version '>= 1.0'. (version 0.9.3 from its agent's lease)
}

func read(t *testing.T) *declarationtest.Declarations {
	t.Helper()
	hub, err := declarationtest.Read("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return hub
}

func TestCheck(t *testing.T) {
	snapshots := addonv1alpha1.AddonAPI{Group: "snapshot.storage.k8s.io", Version: "v1", Kind: "VolumeSnapshot"}
	works := installed("keys", "", "tunnel", "0.9.3")
	works.APIs = []addonv1alpha1.AddonAPI{snapshots}
	older, withoutAPI, edge := works, works, works
	older.APIs = []addonv1alpha1.AddonAPI{{Group: snapshots.Group, Version: "v1beta1", Kind: snapshots.Kind}}
	withoutAPI.APIs = nil
	edge.Labels = map[string]string{"tier": "edge"}
	for name, test := range map[string]struct {
		addOn   string
		cluster cluster
		want    string
	}{
		"all dependencies are satisfied": {"gateway", works, ""},
		"the API is served in another version": {
			"gateway", older,
			"Optional API 'VolumeSnapshot.snapshot.storage.k8s.io/v1' is not served. Backups are not consistent. (served in v1beta1)",
		},
		"the API is not served": {
			"gateway", withoutAPI,
			"Optional API 'VolumeSnapshot.snapshot.storage.k8s.io/v1' is not served. Backups are not consistent. (not served)",
		},
		"a label of the cluster counts": {
			"gateway", edge, "Required addon 'metrics' is not installed or not available. Requests are not counted. (not installed)",
		},
		"a dependency is down": {
			"tunnel", works.With(addOn{Name: "keys", Unavailable: true}),
			"Required addon 'keys' is not installed or not available. (Available=False, Imagined)",
		},
		"a dependency of a dependency is down": {
			"gateway", works.With(addOn{Name: "keys", Unavailable: true}), "Required addon 'tunnel' is not installed or not available. " +
				"Clusters cannot be reached. (a Required dependency of its own is not satisfied)",
		},
		"the version of an AddOnTemplate counts": {
			"portal", works.With(addOn{Name: "gateway", Template: "gateway-2"}).With(addOn{Name: "tunnel", Version: "1.0.0"}), "",
		},
		"a version that is reported comes first": {
			"portal", works.With(addOn{Name: "gateway", Version: "1.9.0", Template: "gateway-2"}).With(addOn{Name: "tunnel", Version: "1.0.0"}),
			"Required addon 'gateway' is not installed or not available in version '>= 2'. (version 1.9.0 from its agent's lease)",
		},

		"the version of the ManagedClusterAddOn counts": {
			"portal", works.With(addOn{Name: "tunnel", Version: "1.0.0"}).With(
				addOn{Name: "gateway", Annotations: map[string]string{addonv1alpha1.AddOnVersionAnnotation: "2.1.0"}}), "",
		},

		"an add-on that was not read": {
			"gatway", works, `add-on "gatway" has no ClusterManagementAddOn among those that were read: gateway, portal, tunnel`,
		},
		"an invalid version":             {"gateway", kubernetes("newest"), `Kubernetes: "newest" is no version; 1.36.0 is one`},
		"an add-on that is listed twice": {"gateway", installed("keys", "", "keys", "1.0.0"), `AddOns[1]: "keys" is listed twice`},
		"an AddOnTemplate of another add-on": {
			"gateway", works.With(addOn{Name: "portal", Template: "gateway-2"}),
			`AddOns[2]: AddOnTemplate "gateway-2" is one of add-on "gateway", not of "portal"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := read(t).Check(test.addOn, test.cluster); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// TestUnusedDeclarations tests that Check returns an error for a declaration that addon-manager does not use, so that a test does not pass
// because there are no verdicts.
func TestUnusedDeclarations(t *testing.T) {
	later := fixture.Specified(t, "later", `{dependencies: [{name: missing}], requirements: {interlock: ">= 99"}}`)
	wrong := fixture.Annotated("wrong", "[{name: missing, retries: 3}]")
	hub := declarationtest.New([]addonv1alpha1.ClusterManagementAddOn{later, wrong, fixture.Deployed(fixture.Registration("deployed"))},
		fixture.Template("deployed", "deployed-2", "{"))
	deployed := func(template string) cluster { return cluster{}.With(addOn{Name: "deployed", Template: template}) }
	changed := deployed("deployed-2")
	for want, err := range map[string]error{
		`"later" is not used: spec.requirements.interlock: the declaration is for Interlock >= 99`: hub.Check("later", cluster{}),
		`"wrong" is not used: metadata.annotations[`:                                               hub.Check("wrong", cluster{}),
		`"deployed" is not used: metadata.annotations[`:                                            hub.CheckChange(cluster{}, changed),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "the declaration of add-on "+want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := hub.Check("deployed", deployed("deployed-1")); err != nil {
		t.Errorf("another AddOnTemplate runs: %v", err)
	}
}

func TestFindings(t *testing.T) {
	findings, err := read(t).Findings("gateway", cluster{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, finding := range findings {
		got = append(got, finding.Name()+" "+string(finding.Verdict))
	}
	if strings.Join(got, ", ") != "tunnel NotInstalled, snapshots APINotServed, metrics NotApplicable" {
		t.Errorf("got %q", got)
	}
}

func TestCheckChangeNamesInvalidCluster(t *testing.T) {
	hub := read(t)
	wrong := cluster{OCM: "main"}
	for want, err := range map[string]error{
		`before: OCM: "main" is no version; 1.36.0 is one`: hub.CheckChange(wrong, cluster{}),
		`after: OCM: "main" is no version; 1.36.0 is one`:  hub.CheckChange(cluster{}, wrong),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestClustersAreCopied(t *testing.T) {
	original := installed("a", "1.0.0", "b", "1.0.0")
	original.With(addOn{Name: "a", Version: "2.0.0"}).Without("b")
	if len(original.AddOns) != 2 || original.AddOns[0].Version != "1.0.0" {
		t.Errorf("changed to %v", original.AddOns)
	}
}

func TestReadRefusesInvalidDeclarations(t *testing.T) {
	const registration = "apiVersion: addon.open-cluster-management.io/v1alpha1\nkind: ClusterManagementAddOn\nmetadata:\n  name: a\n"
	for want, content := range map[string]string{
		`file.yaml:7: a: spec.dependencies[0].type: Unsupported value: "Maybe"`: registration +
			"spec:\n  dependencies:\n  - {name: b, type: Maybe}\n",
		"file.yaml:6: a: ":                        registration + "spec:\n  dependencies: [{name: a}]\n",
		"file.yaml:7: ":                           registration + "spec:\n  dependencies:\n  - {name: b, typ: Required}\n",
		"file.yaml has no ClusterManagementAddOn": "kind: ConfigMap\napiVersion: v1\n",
	} {
		path := filepath.Join(t.TempDir(), "file.yaml")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := declarationtest.Read(path)
		if err == nil || !strings.HasPrefix(err.Error(), filepath.Dir(path)+"/"+want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
