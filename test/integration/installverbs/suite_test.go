// Package installverbs runs kubectl addon install and uninstall on real OCM. Managed clusters are ManagedClusters that are available,
// and the specs report in place of the agents of add-ons.
package installverbs

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

var (
	hub      *ocm.Hub
	clusters = []string{"east", "north", "west"}
)

func TestInstallVerbs(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "install verbs")
}

var _ = BeforeSuite(func(ctx context.Context) {
	SetDefaultConsistentlyDuration(time.Second)
	hub = ocmsuite.Begin(ctx, 20*time.Second, ocm.HubOptions{InterlockCRDs: true})
	for _, name := range clusters {
		ocmsuite.Accept(ctx, hub, name, map[string]string{"tier": "edge"})
	}
}, NodeTimeout(3*time.Minute))

// create creates objects, and deletes them after the spec.
func create(ctx context.Context, manifests string) []*unstructured.Unstructured {
	GinkgoHelper()
	return ocmsuite.Create(ctx, hub, manifests)
}

// register registers an add-on that declares edges by annotation. Its install strategy is YAML.
func register(ctx context.Context, name, strategy, dependencies string) {
	GinkgoHelper()
	create(ctx, `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn,
		metadata: {name: `+name+`, annotations: {`+addonv1alpha1.DependenciesAnnotation+`: '`+dependencies+`'}},
		spec: {installStrategy: `+strategy+`}}`)
}

const manual = "{type: Manual}"

// result is the exit code and the output of a run of the plugin.
type result struct {
	code int
	out  string
}

// person answers a question of the plugin. Before that, it may change the hub.
type person struct {
	prepare func()
	answer  io.Reader
}

func (p person) Answers() bool { return true }

func (p person) Read(buffer []byte) (int, error) {
	if p.prepare != nil {
		p.prepare()
	}
	return p.answer.Read(buffer)
}

// plugin runs the plugin without a person, so that a question gets no answer.
func plugin(ctx context.Context, line string, args ...string) result {
	GinkgoHelper()
	return pluginWithInput(ctx, strings.NewReader(""), line, args...)
}

// pluginWithInput runs the plugin, which reads the answer to its question.
func pluginWithInput(ctx context.Context, input io.Reader, line string, args ...string) result {
	GinkgoHelper()
	var out bytes.Buffer
	command := cli.NewCommand(genericiooptions.IOStreams{In: input, Out: &out, ErrOut: &out})
	command.SetArgs(append(append(strings.Fields(line), args...), "--kubeconfig", hub.Kubeconfig()))
	result := result{code: cmdline.Run(ctx, command, &out)}
	result.out = out.String()
	AddReportEntry("kubectl addon "+line, result.out)
	return result
}

// startPlugin runs the plugin in the background.
func startPlugin(ctx context.Context, line string) chan result {
	results := make(chan result, 1)
	go func() {
		defer GinkgoRecover()
		results <- plugin(ctx, line)
	}()
	return results
}

// clustersWith returns the managed clusters on which an add-on is installed.
func clustersWith(ctx context.Context, addOn string) func() ([]string, error) {
	return func() (clusters []string, err error) {
		var addOns addonv1alpha1.ManagedClusterAddOnList
		err = hub.Client.List(ctx, &addOns)
		for i := range addOns.Items {
			if addOns.Items[i].Name == addOn {
				clusters = append(clusters, addOns.Items[i].Namespace)
			}
		}
		return clusters, err
	}
}

func get(ctx context.Context, cluster, addOn string) (*addonv1alpha1.ManagedClusterAddOn, error) {
	object := &addonv1alpha1.ManagedClusterAddOn{}
	return object, hub.Client.Get(ctx, client.ObjectKey{Namespace: cluster, Name: addOn}, object)
}

// report sets Available as the agent of an add-on would, and returns the time of that.
func report(ctx context.Context, cluster, addOn string) time.Time {
	GinkgoHelper()
	reportTime := time.Now()
	Eventually(func() error {
		addOn, err := get(ctx, cluster, addOn)
		if err != nil {
			return err
		}
		meta.SetStatusCondition(&addOn.Status.Conditions, metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, Reason: "Test"})
		return hub.Client.Status().Update(ctx, addOn)
	}).Should(Succeed())
	return reportTime
}

func readManifest(path string) string {
	GinkgoHelper()
	content, err := os.ReadFile("../../../deploy/" + path)
	Expect(err).NotTo(HaveOccurred())
	return string(content)
}
