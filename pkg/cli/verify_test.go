package cli

import (
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

// cluster returns a managed cluster with a label.
func cluster(name, tier string, available metav1.ConditionStatus) clusterv1.ManagedCluster {
	object := clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"tier": tier}}}
	object.Status.Conditions = []metav1.Condition{{
		Type: clusterv1.ManagedClusterConditionAvailable, Status: available, LastTransitionTime: fixture.Earlier,
	}}
	return object
}

func TestVerifyFiles(t *testing.T) {
	resolvable(t)
	expectRun(t, "verify", "kubectl addon verify: addons.lock: there is no lock yet: kubectl addon resolve writes it", "exit code 2")
	expectRun(t, "resolve", "CLUSTERS")
	expectRun(t, "verify", "0 differences.\n")
	expectRun(t, "index build proxy --version proxy=3.1.0", "proxy 3.1.0 was added\n")
	expectRun(t, "verify", "WHERE     ADD-ON   LOCKED   FOUND   DIFFERENCE\n"+
		"(files)   proxy    3.0.0    3.1.0   clusters of kind default: resolving again gives another lock: gateway 1.0.0 requires proxy ",
		"1 difference.", "exit code 1")
	if err := os.Remove("index/addons/proxy/3.0.0.yaml"); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "verify -o jsonpath={.items[0].addOn}/{.items[0].locked}/{.items[0].message}",
		"proxy/3.0.0/clusters of kind default: proxy 3.0.0 is locked, and the index has no such release", "exit code 1")
}

func TestVerifyFleet(t *testing.T) {
	resolvable(t)
	wishes := "apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnWishes\n" +
		"clusterKinds: [{name: edge, labels: {tier: edge}}, {name: core, labels: {tier: core}}]\n" +
		"addOns: [{name: gateway, clusterKinds: [edge]}, {name: proxy}]\n"
	if err := os.WriteFile("addons.yaml", []byte(wishes), 0o600); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "resolve", "CLUSTERS")
	old := installed("cluster3", "proxy", true, "Running", 1)
	old.Annotations = map[string]string{addonv1alpha1.AddOnVersionAnnotation: "2.0.0"}
	content := snapshot.Content{
		Taken: fixture.Now.Time,
		Registrations: []addonv1alpha1.ClusterManagementAddOn{
			fixture.Versioned(fixture.Registration("gateway"), "1.0.0"), fixture.Versioned(fixture.Registration("proxy"), "v3.0.0"),
		},
		Clusters: []clusterv1.ManagedCluster{
			cluster("cluster1", "edge", metav1.ConditionTrue), cluster("cluster2", "edge", metav1.ConditionTrue),
			cluster("cluster3", "core", metav1.ConditionTrue), cluster("cluster4", "core", metav1.ConditionUnknown),
			cluster("cluster5", "test", metav1.ConditionTrue), cluster("cluster6", "core", metav1.ConditionTrue),
		},
		AddOns: []*addonv1alpha1.ManagedClusterAddOn{
			installed("cluster1", "gateway", true, "Running", 1), installed("cluster1", "proxy", true, "Running", 1),
			installed("cluster2", "proxy", false, "Stopped", 1), old, installed("cluster6", "proxy", true, "Running", 1),
		},
	}
	fleet := file(t, content)
	expectRun(t, "verify --from "+fleet, "WHERE      ADD-ON    LOCKED   FOUND    DIFFERENCE\n"+
		"cluster2   gateway   1.0.0    -        it is not installed\n"+
		"cluster2   proxy     3.0.0    v3.0.0   it is not available\n"+
		"cluster3   proxy     3.0.0    2.0.0    another version runs, by its ManagedClusterAddOn\n"+
		"3 differences, 4 managed clusters compared, 1 that cannot be reached, 1 of no kind in the lock.\n", "exit code 1")
	content.AddOns = append(content.AddOns[:2], content.AddOns[4])
	content.Clusters = append(content.Clusters[:1], content.Clusters[5])
	expectRun(t, "verify --from "+file(t, content), "0 differences, 2 managed clusters compared.\n")
	expectRun(t, "verify --live --server http://127.0.0.1:1", "kubectl addon verify: ", "connection refused", "exit code 3")
}

func TestVerifyKubernetes(t *testing.T) {
	resolvable(t)
	wishes := "apiVersion: dependency.addon.open-cluster-management.io/v1alpha1\nkind: AddOnWishes\n" +
		"clusterKinds: [{name: all, kubernetes: 1.32.4}]\naddOns: [{name: proxy}]\n"
	if err := os.WriteFile("addons.yaml", []byte(wishes), 0o600); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "resolve", "CLUSTERS")
	for version, want := range map[string]string{
		"v1.32.4": "", "v1.32.9-gke.100": "", "v1.32.1+k3s1": "it has an older Kubernetes version than its kind",
		"v1.31.9": "it has another Kubernetes version than its kind", "v1.33.4": "it has another Kubernetes version than its kind",
		"": "its Kubernetes version is not reported", "x": "its Kubernetes version cannot be read: ",
	} {
		object := cluster("cluster1", "edge", metav1.ConditionTrue)
		object.Status.Version.Kubernetes = version
		content := snapshot.Content{
			Taken:         fixture.Now.Time,
			Registrations: []addonv1alpha1.ClusterManagementAddOn{fixture.Versioned(fixture.Registration("proxy"), "3.0.0")},
			Clusters:      []clusterv1.ManagedCluster{object},
			AddOns:        []*addonv1alpha1.ManagedClusterAddOn{installed("cluster1", "proxy", true, "Running", 1)},
		}
		if want == "" {
			expectRun(t, "verify --from "+file(t, content), "0 differences, 1 managed cluster compared.\n")
			continue
		}
		expectRun(t, "verify --from "+file(t, content)+" -o jsonpath={.items[0].cluster}{'/'}{.items[0].locked}{'/'}{.items[0].message}",
			"cluster1/1.32.4/"+want, "exit code 1")
	}
}

func TestVerifyManifests(t *testing.T) {
	resolvable(t)
	expectRun(t, "resolve", "CLUSTERS")
	expectRun(t, "verify --to none", "kubectl addon verify: there is no folder none: kubectl addon build writes it", "exit code 1")
	expectRun(t, "verify --to gateway", "kubectl addon verify: gateway was not written by kubectl addon build: it has no build.lock",
		"exit code 1")
	for _, format := range []string{"kubectl", "kustomize", "argocd", "flux"} {
		expectRun(t, "build --format "+format+" --to "+format, format+"/00/proxy.yaml")
		expectRun(t, "verify --to "+format, "0 differences.\n")
	}
	write := func(path, content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("kubectl/00/proxy.yaml", "{}")
	write("kubectl/00/other.yaml", "{}")
	if err := os.Remove("kubectl/01/gateway.yaml"); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "verify --to kubectl -o jsonpath={.items[*].message}",
		"kubectl/00/other.yaml is nothing that the lock has kubectl/00/proxy.yaml is not what kubectl addon build writes for the lock "+
			"kubectl/01/gateway.yaml is missing", "exit code 1")
	write("kustomize/kustomization.yaml", "{}")
	expectRun(t, "verify --to kustomize -o jsonpath={.items[*].message}",
		"kustomize/kustomization.yaml is not what kubectl addon build writes for the lock", "exit code 1")
	expectRun(t, "index build proxy --version proxy=3.1.0", "proxy 3.1.0 was added\n")
	expectRun(t, "resolve", "CLUSTERS")
	expectRun(t, "verify --to argocd -o jsonpath={.items[*].message}",
		"argocd/00/proxy.yaml is not what kubectl addon build writes for the lock argocd/build.lock is not what", "exit code 1")
}

func TestVerifyManifestsOfFormat(t *testing.T) {
	resolvable(t)
	expectRun(t, "resolve", "CLUSTERS")
	for _, format := range []string{"kubectl", "argocd", "flux"} {
		expectRun(t, "build --format "+format+" --to "+format, format+"/00/proxy.yaml")
	}
	write := func(path, content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	flux, err := os.ReadFile("flux/flux.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for change, becomes := range map[string]string{
		"path: ./flux/01": "path: ./other/01", "  - name: addons-00": "  - name: addons-01", "prune: true": "prune: false",
		"name: addons-01": "name: addons-02", "---": "", "spec:": "none:",
	} {
		write("flux/flux.yaml", strings.Replace(string(flux), change, becomes, 1))
		expectRun(t, "verify --to flux -o jsonpath={.items[*].message}",
			"flux/flux.yaml is not what kubectl addon build writes for the lock", "exit code 1")
	}
	if err := os.Remove("flux/flux.yaml"); err != nil {
		t.Fatal(err)
	}
	expectRun(t, "verify --to flux -o jsonpath={.items[*].message}", "flux/flux.yaml is missing", "exit code 1")
	expectRun(t, "build --format flux --to flux --flux-source fleet --flux-path /clusters/a", "flux/00/proxy.yaml")
	expectRun(t, "verify --to flux", "0 differences.\n")
	write("kubectl/flux.yaml", "{}")
	expectRun(t, "verify --to kubectl -o jsonpath={.items[*].message}", "kubectl/flux.yaml is nothing that the lock has", "exit code 1")
	if err := os.Remove("kubectl/flux.yaml"); err != nil {
		t.Fatal(err)
	}
	lock, err := os.ReadFile("addons.lock") // as it was written before it named the format
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"argocd", "flux"} {
		write(format+"/build.lock", string(lock))
		expectRun(t, "verify --to "+format, "0 differences.\n")
	}
}
