package snapshot

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/fixture"
)

// secret is in all texts that a file must not have. kept is in the texts that it must have.
const secret, kept = "hunter2", "needed"

// secretHub returns a hub with a secret in all fields that no declaration reads. gateway reads the
// variable mode, the annotation tier and the label zone of its own add-on.
func secretHub(t *testing.T) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	gateway := fixture.Specified(t, "gateway", `{dependencies: [{name: proxy, when: {expression: "config.?mode.orValue('') == 'needed'
      && addOn.annotations['tier'] == 'needed' && 'zone' in addOn.labels"}}]}`)
	proxy := fixture.Registration("proxy")
	proxy.Annotations = map[string]string{"note": secret}

	config := func(name string) *addonv1alpha1.AddOnDeploymentConfig {
		result := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{
			Namespace: "configs", Name: name, Annotations: map[string]string{"note": secret},
		}}
		result.Spec.CustomizedVariables = []ocmv1alpha1.CustomizedVariable{{Name: "mode", Value: kept}, {Name: "password", Value: secret}}
		result.Spec.ProxyConfig.HTTPSProxy = "https://admin:" + secret + "@proxy.example.com"
		return result
	}
	unread := config("other")
	unread.Spec.CustomizedVariables[0].Value = secret // no add-on that reads the variable refers to this config
	objects := []client.Object{&gateway, &proxy, config("gateway"), unread}
	for _, name := range []string{"gateway", "proxy"} {
		objects = append(objects, secretAddOn(name))
	}
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: "cluster1", Labels: map[string]string{"vendor": "OpenShift"}, Annotations: map[string]string{"note": secret},
	}}
	cluster.Spec.ManagedClusterClientConfigs = []clusterv1.ClientConfig{{URL: "https://admin:" + secret + "@api.example.com"}}
	cluster.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{
		{Name: "console", Value: "https://admin:" + secret + "@console.example.com"},
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(objects, cluster)...).Build()
}

func secretAddOn(name string) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: "cluster1", Name: name,
		Labels:      map[string]string{"zone": "a", "other": secret},
		Annotations: map[string]string{"tier": kept, "addon.open-cluster-management.io/values": `{"password":"` + secret + `"}`},
	}}
	if name == "proxy" {
		addOn.Annotations["tier"] = secret // no condition of its own reads it
	}
	addOn.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{{
		ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: fleet.ResourceConfig},
		DesiredConfig: &ocmv1alpha1.ConfigSpecHash{
			ConfigReferent: ocmv1alpha1.ConfigReferent{Namespace: "configs", Name: name}, SpecHash: "x",
		},
	}}
	addOn.Status.Conditions = []metav1.Condition{
		{Type: "Available", Status: "False", Reason: "Broken", Message: "cannot reach https://admin:" + secret + "@proxy.example.com: refused"},
		{Type: "ProxyConfigured", Status: "True", Reason: "Done", Message: secret},
	}
	return addOn
}

func TestWriteRemovesSecrets(t *testing.T) {
	snapshot, err := Take(t.Context(), secretHub(t), "")
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	if err := snapshot.Write(&file); err != nil {
		t.Fatal(err)
	}
	if position := strings.Index(file.String(), secret); position >= 0 {
		t.Errorf("the file has …%s", file.String()[max(0, position-200):position+len(secret)])
	}
	for _, part := range []string{
		`"name":"mode","value":"needed"`, `"tier":"needed"`, `"zone":"a"`, "cannot reach https://REMOVED@proxy.example.com: refused",
	} {
		if !strings.Contains(file.String(), part) {
			t.Errorf("the file has no %s", part)
		}
	}
}

// TestWriteKeepsVerdicts tests that the removal of secrets changes no verdict.
func TestWriteKeepsVerdicts(t *testing.T) {
	original, err := Take(t.Context(), secretHub(t), "")
	if err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	if err := original.Write(&file); err != nil {
		t.Fatal(err)
	}
	read, err := Read("-", strings.NewReader(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	for name, snapshot := range map[string]*Snapshot{"taken": original, "read": read} {
		findings := snapshot.Evaluated("cluster1")("gateway")
		if len(findings) != 1 || findings[0].Verdict != "NotAvailable" || findings[0].Detail != nil {
			t.Errorf("%s: got %+v", name, findings)
		}
	}
}

func TestCredentialsInTexts(t *testing.T) {
	for text, want := range map[string]string{
		"Available=False, since 2026-08-01T10:00:00Z":                         "Available=False, since 2026-08-01T10:00:00Z",
		"managed-serviceaccount add-on is available.":                         "managed-serviceaccount add-on is available.",
		"the token has expired":                                               "the token has expired",
		"get https://quay.io/v2: user@example.com is unknown":                 "get https://quay.io/v2: user@example.com is unknown",
		"dial http://joe:pw@10.0.0.1:3128/a":                                  "dial http://REMOVED@10.0.0.1:3128/a",
		"Authorization: Bearer abcdefgh12345":                                 "Authorization: Bearer REMOVED",
		`env {"PROXY_PASSWORD":"a,b"}`:                                        `env {"PROXY_PASSWORD":REMOVED}`,
		"token=abc, retry":                                                    "token=REMOVED, retry",
		"invalid eyJhbGciOi.eyJzdWIi.c2ln":                                    "invalid REMOVED",
		"-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----": "REMOVED",
	} {
		if got := (redaction{}).text(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestTakeReadsInputsOfTemplates tests that the inputs of the declarations of AddOnTemplates are read.
func TestTakeReadsInputsOfTemplates(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	gateway, proxy := fixture.Deployed(fixture.Registration("gateway")), fixture.Registration("proxy")
	template := fixture.Template("gateway", "gateway-2", `[{name: pods, api: {kind: Pod}},
{name: proxy, when: {expression: "config.?mode.orValue('') == 'needed' && 'zone' in addOn.labels"}}]`)
	config := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "configs", Name: "gateway"}}
	config.Spec.CustomizedVariables = []ocmv1alpha1.CustomizedVariable{{Name: "mode", Value: kept}, {Name: "password", Value: secret}}
	facts := &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "cluster1"}}
	hub := fake.NewClientBuilder().WithScheme(scheme).WithObjects(&gateway, &proxy, &template, config, facts, secretAddOn("gateway")).Build()
	snapshot, err := Take(t.Context(), hub, "")
	if err != nil {
		t.Fatal(err)
	}
	if len(snapshot.Templates) != 1 || len(snapshot.Content.Facts) != 1 || len(snapshot.Configs) != 1 ||
		len(snapshot.Configs[0].Spec.CustomizedVariables) != 1 {
		t.Errorf("read %d templates, %d facts, configs %v", len(snapshot.Templates), len(snapshot.Content.Facts), snapshot.Configs)
	}
	if labels := snapshot.AddOns[0].Labels; labels["zone"] != "a" || len(labels) != 1 {
		t.Errorf("labels %v", labels)
	}
}
