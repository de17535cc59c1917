package cli

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// onHub has objects of a hub that no snapshot has. Placements may select from the
// ManagedClusterSet production, and add-ons are deployed by a template and by works.
const onHub = `
managedclustersets:
- {metadata: {name: production}, spec: {clusterSelector: {selectorType: ExclusiveClusterSetLabel}}}
managedclustersetbindings:
- {metadata: {name: production, namespace: default}, spec: {clusterSet: production}}
placementdecisions:
- metadata: {name: backup-1, namespace: default, labels: {cluster.open-cluster-management.io/placement: backup}}
  status: {decisions: [{clusterName: cluster38}, {clusterName: cluster39}, {clusterName: cluster40}]}
- metadata: {name: other-1, namespace: default, labels: {cluster.open-cluster-management.io/placement: other}}
  status: {decisions: [{clusterName: cluster01}]}
clustermanagementaddons:
- metadata: {name: cert-manager}
  spec:
    supportedConfigs: [{group: addon.open-cluster-management.io, resource: addontemplates, defaultConfig: {name: cert-manager-1.16}}]
addontemplates:
- metadata: {name: cert-manager-1.16}
  spec:
    addonName: cert-manager
    agentSpec:
      workload:
        manifests:
        - apiVersion: apiextensions.k8s.io/v1
          kind: CustomResourceDefinition
          metadata: {name: certificates.cert-manager.io}
          spec: {group: cert-manager.io, names: {kind: Certificate, plural: certificates}}
        - apiVersion: apiextensions.k8s.io/v1
          kind: CustomResourceDefinition
          metadata: {name: issuers.cert-manager.io}
          spec: {group: cert-manager.io, names: {kind: Issuer, plural: issuers}}
        - apiVersion: apps/v1
          kind: Deployment
          metadata: {name: cert-manager}
          spec: {template: {spec: {containers: [{name: controller, image: 'quay.io/jetstack/cert-manager-controller:v1.16.2'}]}}}
- metadata: {name: cluster-gateway-1.4}
  spec:
    addonName: cluster-gateway
    agentSpec:
      workload:
        manifests:
        - {apiVersion: apps/v1, kind: Deployment, metadata: {name: gateway}}
        - {apiVersion: authentication.open-cluster-management.io/v1beta1, kind: ManagedServiceAccount, metadata: {name: gateway}}
        - {apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: gateway}}
        - apiVersion: rbac.authorization.k8s.io/v1
          kind: ClusterRole
          metadata: {name: gateway}
          rules:
          - {apiGroups: [""], resources: [secrets], verbs: [get]}
          - {apiGroups: [cert-manager.io], resources: [certificates], verbs: [create, get]}
manifestworks:
- metadata:
    name: addon-managed-serviceaccount-deploy-0
    namespace: cluster01
    labels: {open-cluster-management.io/addon-name: managed-serviceaccount}
  spec:
    workload:
      manifests:
      - apiVersion: apiextensions.k8s.io/v1
        kind: CustomResourceDefinition
        metadata: {name: managedserviceaccounts.authentication.open-cluster-management.io}
        spec: {group: authentication.open-cluster-management.io, names: {kind: ManagedServiceAccount, plural: managedserviceaccounts}}
- metadata:
    name: addon-governance-deploy-0
    namespace: cluster40
    labels: {open-cluster-management.io/addon-name: config-policy-controller}
  spec:
    workload:
      manifests:
      - {apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: policies}}
      - apiVersion: apps/v1
        kind: Deployment
        metadata: {name: config-policy-controller}
        spec:
          template:
            spec: {containers: [{name: controller, image: 'quay.io/open-cluster-management/config-policy-controller@sha256:6d0f8e2a'}]}
`

// resources has the kinds of the lists that the plugin reads, by resource.
var resources = map[string]metav1.TypeMeta{
	"clustermanagementaddons":   {APIVersion: "addon.open-cluster-management.io/v1alpha1", Kind: "ClusterManagementAddOn"},
	"managedclusteraddons":      {APIVersion: "addon.open-cluster-management.io/v1alpha1", Kind: "ManagedClusterAddOn"},
	"addontemplates":            {APIVersion: "addon.open-cluster-management.io/v1alpha1", Kind: "AddOnTemplate"},
	"managedclusterfacts":       {APIVersion: "dependency.addon.open-cluster-management.io/v1alpha1", Kind: "ManagedClusterFacts"},
	"addoninstallations":        {APIVersion: "dependency.addon.open-cluster-management.io/v1alpha1", Kind: "AddOnInstallation"},
	"addondependencypolicies":   {APIVersion: "dependency.addon.open-cluster-management.io/v1alpha1", Kind: "AddOnDependencyPolicy"},
	"managedclusters":           {APIVersion: "cluster.open-cluster-management.io/v1", Kind: "ManagedCluster"},
	"managedclustersets":        {APIVersion: "cluster.open-cluster-management.io/v1beta2", Kind: "ManagedClusterSet"},
	"managedclustersetbindings": {APIVersion: "cluster.open-cluster-management.io/v1beta2", Kind: "ManagedClusterSetBinding"},
	"placementdecisions":        {APIVersion: "cluster.open-cluster-management.io/v1beta1", Kind: "PlacementDecision"},
	"placements":                {APIVersion: "cluster.open-cluster-management.io/v1beta1", Kind: "Placement"},
	"leases":                    {APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
	"manifestworks":             {APIVersion: "work.open-cluster-management.io/v1", Kind: "ManifestWork"},
}

// forbidden has the kinds that some users may not list, by user.
var forbidden = map[string]string{"viewer": "AddOnDependencyPolicy", "author": "ManagedClusterAddOn", "reader": "ManifestWork"}

// serve serves the fleet of hub with sets, taints and the objects of onHub, in the lists of an
// API server.
func serve(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(apiServer(t))
	t.Cleanup(server.Close)
	return server.URL
}

// apiServer returns the handler of serve.
func apiServer(t *testing.T) http.Handler {
	t.Helper()
	objects := map[string][]map[string]any{}
	if err := yaml.Unmarshal([]byte(onHub), &objects); err != nil {
		t.Fatal(err)
	}
	content := hub()
	add := func(resource string, object any) {
		converted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		objects[resource] = append(objects[resource], converted)
	}
	for i := range content.Registrations {
		add("clustermanagementaddons", &content.Registrations[i])
	}
	for i := range content.AddOns {
		add("managedclusteraddons", content.AddOns[i])
	}
	for i := range content.Clusters {
		cluster := &content.Clusters[i]
		if i >= 20 {
			cluster.Labels[clusterv1beta2.ClusterSetLabel] = "production"
		}
		if cluster.Name == "cluster50" {
			cluster.Spec.Taints = []clusterv1.Taint{{Key: clusterv1.ManagedClusterTaintUnreachable, Effect: clusterv1.TaintEffectNoSelect}}
		}
		add("managedclusters", cluster)
		tag := "v0.9.0"
		if i >= 47 {
			tag = "v0.10.0"
		}
		objects["manifestworks"] = append(objects["manifestworks"], deployed(cluster.Name, "managed-serviceaccount", tag))
	}
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		response.Header().Set("Content-Type", "application/json")
		path := strings.Split(strings.Trim(request.URL.Path, "/"), "/") // apis, group, version, …
		if len(path) == 2 {                                             // discovery
			_ = json.NewEncoder(response).Encode(metav1.APIGroup{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroup"}, Name: path[1]})
			return
		}
		if path[len(path)-2] == "addonfleetreports" {
			http.NotFound(response, request) // addon-manager keeps none there
			return
		}
		kind, ok := resources[path[len(path)-1]]
		if !ok || "apis/"+kind.APIVersion != strings.Join(path[:3], "/") {
			t.Errorf("%s is not to be read", request.URL.Path)
			http.NotFound(response, request)
			return
		}
		if user := request.Header.Get("Impersonate-User"); user != "" && forbidden[user] == kind.Kind {
			resource := path[len(path)-1]
			refusal := apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("User cannot list")).Status()
			refusal.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
			response.WriteHeader(http.StatusForbidden)
			_ = json.NewEncoder(response).Encode(refusal)
			return
		}
		namespace := ""
		if len(path) > 4 {
			namespace = path[4]
		}
		_ = json.NewEncoder(response).Encode(list(kind, objects[path[len(path)-1]], namespace, request.URL.Query()))
	})
}

// deployed returns a ManifestWork with the Deployment of an add-on.
func deployed(cluster, addOn, tag string) map[string]any {
	container := map[string]any{"name": "agent", "image": "quay.io/open-cluster-management/" + addOn + ":" + tag}
	deployment := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": addOn},
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{container}}}},
	}
	return map[string]any{
		"metadata": map[string]any{
			"name": "addon-" + addOn + "-deploy-1", "namespace": cluster, "labels": map[string]any{"open-cluster-management.io/addon-name": addOn},
		},
		"spec": map[string]any{"workload": map[string]any{"manifests": []any{deployment}}},
	}
}

// list returns a list of the objects of a namespace that the query selects. An empty namespace means all.
func list(kind metav1.TypeMeta, objects []map[string]any, namespace string, query url.Values) map[string]any {
	selected, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		panic(err)
	}
	items := []any{}
	for _, content := range objects {
		object := unstructured.Unstructured{Object: content}
		name, isNamed := strings.CutPrefix(query.Get("fieldSelector"), "metadata.name=")
		if isNamed && name != object.GetName() {
			continue
		}
		if (namespace == "" || namespace == object.GetNamespace()) && selected.Matches(labels.Set(object.GetLabels())) {
			object.SetGroupVersionKind(kind.GroupVersionKind())
			items = append(items, content)
		}
	}
	return map[string]any{"apiVersion": kind.APIVersion, "kind": kind.Kind + "List", "items": items}
}

// TestVerbsReadHub tests the commands in testdata/hub-commands on the hub, in the folder testdata/files.
func TestVerbsReadHub(t *testing.T) {
	commands, err := os.ReadFile("testdata/hub-commands")
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Chdir("testdata/files")
	server := serve(t)
	for line := range strings.Lines(string(commands)) {
		line = strings.TrimSpace(line)
		t.Run(line, func(t *testing.T) {
			got := run(t, append(strings.Fields(line), "--server", server)...)
			compare(t, got, filepath.Join(folder, golden(line)))
		})
	}
}

// TestCommandsKeepContext tests that commands to paste have the context. Without it, they would act on another hub.
func TestCommandsKeepContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	config := clientcmdapi.NewConfig()
	config.Clusters["prod"] = &clientcmdapi.Cluster{Server: serve(t)}
	config.Clusters["other"] = &clientcmdapi.Cluster{Server: "http://127.0.0.1:1"}
	config.Contexts["prod hub"] = &clientcmdapi.Context{Cluster: "prod"}
	config.Contexts["other hub"] = &clientcmdapi.Context{Cluster: "other"}
	config.CurrentContext = "other hub"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", path)
	enable := "clusteradm addon enable --names governance-policy-framework --clusters cluster40 --context 'prod hub'"
	for verb, want := range map[string][]string{
		"why -n cluster40":                              {"run        " + enable + "\n"},
		"why config-policy-controller -n cluster40":     {"run   " + enable + "\n"},
		"why -n cluster40 --as me":                      {"without --as.\n", enable},
		"wait cluster-gateway -n cluster01 --timeout 0": {"run  kubectl addon why cluster-gateway -n cluster01 --context 'prod hub'\n"},
		"report -n cluster50":                           {"reports cluster50 -n cluster50 -o yaml --context 'prod hub'\n"},
	} {
		got := run(t, append(strings.Fields(verb), "--context", "prod hub")...)
		for _, part := range want {
			if !strings.Contains(got, part) {
				t.Errorf("%s: no %q in\n%s", verb, part, got)
			}
		}
	}
}

func TestMessagesAboutInputsThatFilesLack(t *testing.T) {
	fleet := file(t, hub())
	for verb, want := range map[string]string{
		"suggest": "suggest reads a hub, without --from\n",
		"impact --install application-portal --placement testdata/files/placement.yaml": `Placement "production" selects no managed cluster: `,
		"lint testdata/files/add-ons.yaml":                                              "A snapshot has no PlacementDecisions",
	} {
		if got := run(t, append(strings.Fields(verb), "--from", fleet)...); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", verb, want, got)
		}
	}
}

// TestUnusablePlacements tests placements that are invalid, or bound to no ManagedClusterSet.
func TestUnusablePlacements(t *testing.T) {
	path := filepath.Join(t.TempDir(), "placement.yaml")
	for text, want := range map[string]string{
		"kind: Placement\nmetadata: {name: a}\n":                                             "Placement \"a\" has no metadata.namespace",
		"kind: Placement\nmetadata: {name: a, namespace: b}\nspec: {predicate: []}\n":        `unknown field "predicate"`,
		"kind: Placement\nmetadata: {name: a, namespace: default}\nspec: {clusterSets: [x]}": "none of its clusterSets (x) is bound",
		"kind: Placement\nmetadata: {name: a, namespace: b}\n":                               `no ManagedClusterSet is bound to namespace "b"`,
		"kind: Placement\nmetadata: {name: a, namespace: b}\n---\nkind: Placement\n":         "there is more than one Placement",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := run(t, "impact", "--install", "application-portal", "--placement", path, "--server", serve(t))
		if !strings.Contains(got, want) || !strings.Contains(got, "exit code") {
			t.Errorf("%s: no %q in\n%s", text, want, got)
		}
	}
}
