package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/deploy"
	"open-cluster-management.io/interlock/manifests"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/test/fixture"
)

// objects are the manifests of a fake hub, by kind and name. A manifest that begins with "error: " is an error of the API server.
type objects map[string]string

// Get implements client.Reader.
func (o objects) Get(_ context.Context, key client.ObjectKey, target client.Object, _ ...client.GetOption) error {
	text, ok := o[target.GetObjectKind().GroupVersionKind().Kind+" "+key.Name]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	if failure, failed := strings.CutPrefix(text, "error: "); failed {
		return errors.New(failure)
	}
	if object, ok := target.(*unstructured.Unstructured); ok {
		object.Object = nil
		return yaml.Unmarshal([]byte(text), &object.Object) // with whole numbers, as a client reads them
	}
	return yaml.Unmarshal([]byte(text), target)
}

// List implements client.Reader, for objects of one kind.
func (o objects) List(_ context.Context, target client.ObjectList, _ ...client.ListOption) error {
	list := target.(*unstructured.UnstructuredList)
	kind := strings.TrimSuffix(list.GetKind(), "List")
	for name, text := range o {
		if !strings.HasPrefix(name, kind+" ") {
			continue
		}
		if failure, failed := strings.CutPrefix(text, "error: "); failed {
			return errors.New(failure)
		}
		item := unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &item.Object); err != nil {
			return err
		}
		list.Items = append(list.Items, item)
	}
	return nil
}

const (
	runningDeployment = `{spec: {replicas: 2, template: {spec: {containers: [{image: "example.com:5000/interlock:0.1.0@sha256:1"}]}}},
  status: {readyReplicas: 2}}`
	// withField and withoutField are versions of a CRD.
	withField = `versions: [{served: false},
  {served: true, schema: {openAPIV3Schema: {properties: {spec: {properties: {dependencies: {type: array}}}}}}}]`
	withoutField = `versions: [{served: true, schema: {openAPIV3Schema: {properties: {spec: {properties: {}}}}}}]`
	endpoints    = `endpoints: [{conditions: {ready: true}}, {conditions: {}}, {conditions: {ready: false}}]`
	roleBinding  = `{roleRef: {kind: %s, name: %s}, subjects: [{kind: ServiceAccount, name: %s, namespace: interlock-system}]}`
	graftRecord  = `metadata: {annotations: {interlock.open-cluster-management.io/graft: "{}"}}`
)

// healthyHub returns the objects of a hub on which all checks pass.
func healthyHub() objects {
	hub := objects{
		"CustomResourceDefinition " +
			fleet.OCMVersionCRD: `metadata: {annotations: {operator.open-cluster-management.io/version: 1.2.1}}`,
		"CustomResourceDefinition " + registration:                     "{" + graftRecord + ", spec: {" + withField + "}}",
		"CustomResourceDefinition " + dependencyv1alpha1.CRDName:       `{}`,
		"Deployment interlock-addon-manager":                           runningDeployment,
		"Deployment interlock-webhook":                                 runningDeployment,
		"Deployment interlock-console":                                 runningDeployment,
		"Lease interlock-addon-manager":                                lease("2026-08-01T10:04:55.123456Z"),
		"EndpointSlice interlock-webhook":                              endpoints,
		"ValidatingWebhookConfiguration interlock-webhook":             `webhooks: [{clientConfig: {caBundle: YQ==}}]`,
		"MutatingWebhookConfiguration interlock-webhook":               `webhooks: [{clientConfig: {caBundle: YQ==}}]`,
		"MutatingAdmissionPolicy interlock-required-dependency":        manifest("guard/policy.yaml"),
		"MutatingAdmissionPolicyBinding interlock-required-dependency": manifest("guard/binding.yaml"),
	}
	for _, grant := range grants {
		role := roleManifest(grant.file)
		content, _ := deploy.Roles.ReadFile(grant.file)
		hub[role.Kind+" "+role.Name] = string(content)
		hub[role.Kind+"Binding "+role.Name] = fmt.Sprintf(roleBinding, role.Kind, role.Name, grant.account)
	}
	return hub
}

func manifest(path string) string {
	content, err := manifests.Guard.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return string(content)
}

func lease(renewed string) string {
	return fmt.Sprintf("spec: {holderIdentity: pod-1, leaseDurationSeconds: 15, renewTime: %q}", renewed)
}

func content() snapshot.Content {
	reached := clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}}
	reached.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
	agent := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "interlock-agent"}}
	agent.Status.Conditions = []metav1.Condition{{Type: "Available", Status: metav1.ConditionTrue}}
	return snapshot.Content{
		Taken: fixture.Now.Time, Registrations: append(fixture.Registrations("b"), fixture.Annotated("a", "- name: b")),
		Manager:  &snapshot.Manager{Offline: evaluation.OfflineHold},
		Clusters: []clusterv1.ManagedCluster{reached}, AddOns: []*addonv1alpha1.ManagedClusterAddOn{agent},
	}
}

// diagnoseChanged makes all checks on a healthy hub with a change.
func diagnoseChanged(t *testing.T, change func(objects, *snapshot.Content)) *report.Diagnosis {
	t.Helper()
	hub, content := healthyHub(), content()
	if change != nil {
		change(hub, &content)
	}
	return diagnose(t.Context(), newHub(hub, snapshot.New(content), "interlock-system", fixture.Now.Add(time.Second), "0.1.0"))
}

// resultsOf returns the results of a check as lines.
func resultsOf(diagnosis *report.Diagnosis, check string) string {
	var lines []string
	for _, item := range diagnosis.Items {
		if item.Check == check {
			lines = append(lines, marks[item.Status]+" "+item.Message+" → "+item.Repair)
		}
	}
	return strings.Join(lines, "\n")
}

// testCase is a change of a healthy hub, and parts of the results that a check has then.
type testCase struct {
	change func(objects, *snapshot.Content)
	want   []string
}

func runCases(t *testing.T, check string, cases map[string]testCase) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := resultsOf(diagnoseChanged(t, test.change), check)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in:\n%s", want, got)
				}
			}
		})
	}
}

func TestDoctorPrints(t *testing.T) {
	for name, test := range map[string]struct {
		change func(objects, *snapshot.Content)
		want   []string
		failed bool
	}{
		"all is well": {want: []string{
			"✔ Open Cluster Management 1.2.1, managed clusters: 1\n",
			"✔ interlock-addon-manager runs with 2 replicas of example.com:5000/interlock:0.1.0@sha256:1\n",
			"✔ 1 of 2 add-ons declare dependencies, and all declarations can be used\n",
		}},
		"not installed": {func(o objects, _ *snapshot.Content) { clear(o) }, []string{
			"✖ interlock-addon-manager is not installed in interlock-system.", "  → docs/install.md", "✖ No replica of addon-manager has ever led",
			"✖ The API server is not configured to call the webhook to check", "- No guard is installed",
			"✖ There is no CRD of ClusterManagementAddOns",
		}, true},
		"missing rights": {func(o objects, _ *snapshot.Content) {
			for name := range o {
				o[name] = "error: this is forbidden"
			}
		}, []string{"? The lease of the leader cannot be read: this is forbidden\n  → docs/kubectl-addon.md#rights"}, false},
		"a lost cluster, strictly": {func(_ objects, c *snapshot.Content) {
			c.Clusters[0].Status.Conditions[0].Status, c.Manager.Offline = metav1.ConditionUnknown, evaluation.OfflineStrict
		}, []string{
			"cannot be reached: their add-ons count as not available (--offline=strict)",
			"✔ The plugin evaluates as addon-manager does, with --offline=strict",
		}, false},
		"an unknown policy": {func(_ objects, c *snapshot.Content) {
			c.Manager = &snapshot.Manager{Unread: "the lease of its leader cannot be read: leases is forbidden"}
		}, []string{"so the plugin evaluates with hold: the lease of its leader cannot be read: leases is forbidden"}, false},
		"an unusable declaration": {func(_ objects, c *snapshot.Content) {
			c.Registrations = append(c.Registrations, fixture.Annotated("c", "- name: [\x1b[31m"))
		}, []string{"✖ What c declares cannot be used", "→ kubectl edit clustermanagementaddon c --context 'prod hub'\n"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			src := &source.Source{Config: genericclioptions.NewConfigFlags(true)}
			*src.Config.Context = "prod hub"
			diagnosis := diagnoseChanged(t, test.change)
			var out strings.Builder
			if err := Write(&out, src, diagnosis); err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q", want)
				}
			}
			failed := strings.Contains(out.String(), "✖")
			if test.failed != failed || diagnosis.Failed() != failed || strings.Contains(out.String(), "\x1b") || t.Failed() {
				t.Errorf("it printed:\n%s", out.String())
			}
		})
	}
}

// TestFindingsHaveRepairs tests that each failed check has a repair.
func TestFindingsHaveRepairs(t *testing.T) {
	for name, change := range map[string]func(objects, *snapshot.Content){
		"well": nil, "nothing": func(o objects, c *snapshot.Content) { clear(o); *c = snapshot.Content{} },
	} {
		for _, item := range diagnoseChanged(t, change).Items {
			if (item.Repair == "") != (item.Status == passed) {
				t.Errorf("%s: %s: %q with the repair %q", name, item.Status, item.Message, item.Repair)
			}
			if name == "well" && item.Status != passed {
				t.Errorf("%s: %s", item.Check, item.Message)
			}
		}
	}
}

// factsRequested returns the facts of cluster1 that were requested some seconds ago.
func factsRequested(generation, observed int64, seconds int) []dependencyv1alpha1.ManagedClusterFacts {
	facts := dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{
		Namespace: "cluster1", Name: "cluster1",
		Generation: generation,
	}}
	facts.CreationTimestamp = metav1.NewTime(fixture.Now.Add(-time.Duration(seconds) * time.Second))
	facts.Status.ObservedGeneration = observed
	return []dependencyv1alpha1.ManagedClusterFacts{facts}
}
