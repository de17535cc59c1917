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
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/test/fixture"
)

// objects are those of a hub, by kind and name.
type objects map[string]string

// Get implements client.Reader. An object that is an error is one.
func (o objects) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	text, ok := o[into.GetObjectKind().GroupVersionKind().Kind+" "+key.Name]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	if failure, is := strings.CutPrefix(text, "error: "); is {
		return errors.New(failure)
	}
	if object, ok := into.(*unstructured.Unstructured); ok {
		object.Object = nil
		return yaml.Unmarshal([]byte(text), &object.Object) // with whole numbers, as a client reads them
	}
	return yaml.Unmarshal([]byte(text), into)
}

func (objects) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("nothing is listed")
}

// wellHub is a hub where all is well.
func wellHub() objects {
	running := `{spec: {replicas: 2, template: {spec: {containers: [{image: "example.com/interlock:1"}]}}}, status: {readyReplicas: 2}}`
	return objects{
		"CustomResourceDefinition " + fleet.OCMVersionCRD:       `metadata: {annotations: {operator.open-cluster-management.io/version: 1.2.1}}`,
		"CustomResourceDefinition " + registration:              `metadata: {annotations: {interlock.open-cluster-management.io/graft: "{}"}}`,
		"Deployment interlock-addon-manager":                    running,
		"Deployment interlock-webhook":                          running,
		"Lease interlock-addon-manager":                         lease("2026-08-01T10:04:55.123456Z"),
		"ValidatingWebhookConfiguration interlock-webhook":      `webhooks: [{clientConfig: {caBundle: YQ==}}]`,
		"MutatingAdmissionPolicy interlock-required-dependency": `{}`,
	}
}

func lease(renewed string) string {
	return fmt.Sprintf("spec: {holderIdentity: pod-1, leaseDurationSeconds: 15, renewTime: %q}", renewed)
}

func content() snapshot.Content {
	reached := clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}}
	reached.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}}
	agent := addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "interlock-agent"}}
	agent.Status.Conditions = []metav1.Condition{{Type: "Available", Status: metav1.ConditionTrue}}
	return snapshot.Content{
		Taken: fixture.Now.Time, Registrations: fixture.Registrations("a: b, b"), Manager: &snapshot.Manager{Offline: evaluation.OfflineHold},
		Clusters: []clusterv1.ManagedCluster{reached}, AddOns: []addonv1alpha1.ManagedClusterAddOn{agent},
	}
}

func TestDoctor(t *testing.T) {
	for name, test := range map[string]struct {
		change func(objects, *snapshot.Content)
		want   []string
		failed bool
	}{
		"all is well": {want: []string{
			"✔ Open Cluster Management 1.2.1, managed clusters: 1",
			"✔ interlock-addon-manager runs with 2 replicas of example.com/interlock:1",
			"✔ pod-1 leads", "✔ The API server trusts the webhook", "✔ The guard is installed, as a MutatingAdmissionPolicy",
			"✔ addon-agent is available on all managed clusters that have it: 1",
			"✔ 1 of 2 add-ons declare dependencies, and all declarations can be used",
			"✔ All managed clusters can be reached",
			"✔ The plugin evaluates as addon-manager does, with --offline=hold",
		}},
		"not installed": {func(o objects, _ *snapshot.Content) { clear(o) }, []string{
			"✖ interlock-addon-manager is not installed in interlock-system.", "→ docs/install.md", "✖ No replica of addon-manager has ever led",
			"✖ The API server is not configured to call the webhook", "- No guard is installed", "✖ There is no CRD of ClusterManagementAddOns",
		}, true},
		"pods that are not ready": {func(o objects, _ *snapshot.Content) {
			o["Deployment interlock-webhook"] = `{spec: {replicas: 2}, status: {readyReplicas: 1}}`
		}, []string{
			"✖ interlock-webhook has 1 of 2 replicas ready", "→ kubectl -n interlock-system describe deployment interlock-webhook",
		}, true},
		"no leader": {func(o objects, _ *snapshot.Content) {
			o["Lease interlock-addon-manager"] = lease("2026-08-01T10:00:00.000000Z")
		}, []string{"✖ No replica of addon-manager leads", "→ kubectl -n interlock-system logs deployment/interlock-addon-manager"}, true},
		"a webhook without CA": {func(o objects, _ *snapshot.Content) {
			o["ValidatingWebhookConfiguration interlock-webhook"] = `webhooks: [{clientConfig: {}}]`
		}, []string{"✖ The API server does not trust the webhook"}, true},
		"missing rights": {func(o objects, _ *snapshot.Content) {
			o["Lease interlock-addon-manager"] = "error: leases is forbidden"
		}, []string{"? The lease of the leader cannot be read: leases is forbidden"}, false},
		"a silent agent": {func(_ objects, c *snapshot.Content) {
			c.AddOns[0].Status.Conditions[0].Status = metav1.ConditionUnknown
		}, []string{
			"✖ addon-agent is not available on 1 of 1 managed clusters, such as cluster1",
			"→ kubectl describe managedclusteraddon interlock-agent -n cluster1",
		}, true},
		"a lost cluster": {func(_ objects, c *snapshot.Content) {
			c.Clusters[0].Status.Conditions[0].Status = metav1.ConditionUnknown
		}, []string{"- 1 of 1 managed clusters cannot be reached", "- addon-agent is installed on no managed cluster"}, false},
		"a lost cluster, strictly": {func(_ objects, c *snapshot.Content) {
			c.Clusters[0].Status.Conditions[0].Status, c.Manager.Offline = metav1.ConditionUnknown, evaluation.OfflineStrict
		}, []string{
			"cannot be reached: their add-ons count as not available (--offline=strict)",
			"✔ The plugin evaluates as addon-manager does, with --offline=strict",
		}, false},
		"an unknown policy": {func(_ objects, c *snapshot.Content) {
			c.Manager = &snapshot.Manager{Unread: "the lease of its leader cannot be read: leases is forbidden"}
		}, []string{"? The value of --offline is not known, so the plugin evaluates with hold: the lease of its leader cannot be read: leases is forbidden"}, false},
		"an unusable declaration": {func(_ objects, c *snapshot.Content) {
			c.Registrations = append(c.Registrations, fixture.Annotated("c", "- name: [\x1b[31m"))
		}, []string{"✖ What c declares cannot be used", "→ kubectl edit clustermanagementaddon c --context 'prod hub'\n"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			on, taken := wellHub(), content()
			if test.change != nil {
				test.change(on, &taken)
			}
			streams, _, out, _ := genericiooptions.NewTestIOStreams()
			from := &source.Source{Config: genericclioptions.NewConfigFlags(true)}
			*from.Config.Context = "prod hub"
			err := examine(t.Context(), &hub{
				Reader: on, fleet: snapshot.New(taken), namespace: "interlock-system", now: fixture.Now.Add(time.Second), source: from,
			}, streams)
			if failed := errors.Is(err, ErrUnwell); failed != test.failed {
				t.Errorf("it ended with %v", err)
			}
			for _, want := range test.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q", want)
				}
			}
			if test.failed != strings.Contains(out.String(), "✖") || strings.Contains(out.String(), "\x1b") || t.Failed() {
				t.Errorf("it printed:\n%s", out)
			}
		})
	}
}
