package snapshot

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

const whole = `{"apiVersion":"dependency.addon.open-cluster-management.io/v1alpha1","kind":"FleetSnapshot"}` + "\n"

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "fleet")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWriteAndRead(t *testing.T) {
	content := Content{
		Taken: fixture.Now.Time, OCMVersion: "1.2.1", Registrations: fixture.Registrations("a: b, b"),
		AddOns:     []*addonv1alpha1.ManagedClusterAddOn{{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "a"}}},
		Clusters:   []clusterv1.ManagedCluster{{ObjectMeta: metav1.ObjectMeta{Name: "cluster1", Labels: map[string]string{"a": "b"}}}},
		Facts:      []dependencyv1alpha1.ManagedClusterFacts{{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "cluster1"}}},
		Configs:    []addonv1alpha1.AddOnDeploymentConfig{{ObjectMeta: metav1.ObjectMeta{Namespace: "configs", Name: "a"}}},
		Templates:  []addonv1alpha1.AddOnTemplate{{ObjectMeta: metav1.ObjectMeta{Name: "a-1"}}},
		Decisions:  []clusterv1beta1.PlacementDecision{{ObjectMeta: metav1.ObjectMeta{Namespace: "places", Name: "a-1"}}},
		Placements: []clusterv1beta1.Placement{{ObjectMeta: metav1.ObjectMeta{Namespace: "places", Name: "a"}}}, PlacementsRead: true,
		Policies: []dependencyv1alpha1.AddOnDependencyPolicy{{ObjectMeta: metav1.ObjectMeta{Name: "edge"}}},
		Installations: []dependencyv1alpha1.AddOnInstallation{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "b"},
			Status:     dependencyv1alpha1.AddOnInstallationStatus{Phase: dependencyv1alpha1.PhaseInstalled},
		}},
		Manager: &Manager{Offline: "strict"}, FactsNotServed: true, DecisionsRead: true, PoliciesUnread: "forbidden",
		WithoutInterlock: true, OCMVersionUnread: "forbidden",
		HubAPIs: []dependencyv1alpha1.APIFact{{API: dependencyv1alpha1.API{Kind: "Thing"}, Served: metav1.ConditionTrue}},
		Hosting: Hosting{Clusters: []clusterv1.ManagedCluster{{ObjectMeta: metav1.ObjectMeta{Name: "hub-east"}}}},
	}
	content.Clusters[0].Spec.Taints = []clusterv1.Taint{{Key: "unreachable"}}
	var json strings.Builder
	for i := range reflect.ValueOf(content).NumField() {
		if field := reflect.TypeOf(content).Field(i); reflect.ValueOf(content).Field(i).IsZero() && field.Tag.Get("json") != "-" {
			t.Errorf("%s is not tested", field.Name)
		}
	}
	if err := content.Write(&json); err != nil {
		t.Fatal(err)
	}
	asYAML, err := yaml.JSONToYAML([]byte(json.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{json.String(), string(asYAML)} {
		read, err := Read(written(t, text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(content, read.Content); diff != "" {
			t.Error(diff)
		}
		if findings := read.Evaluated("cluster1")("a"); len(findings) != 1 || findings[0].Name() != "b" {
			t.Errorf("a has %v", findings)
		}
	}
}

func TestReadStandardInput(t *testing.T) {
	if read, err := Read("-", strings.NewReader(whole)); err != nil || len(read.Clusters) != 0 {
		t.Errorf("got %v, %v", read, err)
	}
}

func TestReadInvalidFile(t *testing.T) {
	for name, test := range map[string]struct{ text, failure string }{
		"empty":         {"", `is no snapshot: it has kind "" and apiVersion ""`},
		"another kind":  {`{"apiVersion":"v1","kind":"List"}`, `is no snapshot: it has kind "List" and apiVersion "v1"; kubectl addon`},
		"broken":        {`{"kind":`, "is no snapshot: unexpected EOF"},
		"twice":         {strings.Repeat(whole, 2), "is no snapshot: there is more after its end"},
		"with a tail":   {whole + "tail", "is no snapshot: there is more after its end"},
		"two documents": {"---\nkind: FleetSnapshot\n---\nkind: FleetSnapshot\n", "is no snapshot: there is more after its end"},
		"no YAML":       {"a: b: c", "is no snapshot: "},
		"a wrong field": {`{"managedClusters":1}`, "is no snapshot: managedClusters: must be a list"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read(written(t, test.text), nil); err == nil || !strings.Contains(err.Error(), test.failure) {
				t.Errorf("got %v, want %s", err, test.failure)
			}
		})
	}
}
