package stack

import (
	"context"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	interlockv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// portal is the add-on at the top of the stack.
const portal = "portal"

// requirements has the dependencies of each add-on of the stack.
var requirements = map[string][]string{
	portal: {"gateway", "tunnel"}, "gateway": {"tokens"}, "tunnel": {"tokens", "certs"}, "tokens": nil, "certs": nil,
}

// registrations returns the registrations and AddOnTemplates of docs/examples/stack, with the names of a run.
func registrations(run uint64) (objects []*unstructured.Unstructured) {
	GinkgoHelper()
	content, err := os.ReadFile("../../../docs/examples/stack/stack.yaml")
	Expect(err).NotTo(HaveOccurred())
	names := regexp.MustCompile(`\b(` + strings.Join(slices.Sorted(maps.Keys(requirements)), "|") + `)\b`)
	for _, document := range strings.Split(names.ReplaceAllString(string(content), "$1-"+strconv.FormatUint(run, 10)), "\n---\n") {
		object := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(document), &object.Object)).To(Succeed())
		objects = append(objects, object)
	}
	return objects
}

func addOn(cluster, name string) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
}

// probe waits until the gate rule is in force and the webhook closes gates. It needs an add-on that is installed.
func probe(ctx context.Context) {
	GinkgoHelper()
	for _, object := range registrations(0) {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
	}
	Expect(hub.Client.Create(ctx, addOn(clusters[0], runName("certs", 0)))).To(Succeed())
	Eventually(leader).WithContext(ctx).Should(BeNumerically(">=", 0))
	awaitGateAtCreation(ctx, portal, 0)
}

// awaitGateAtCreation waits until the webhook closes the gate of a new add-on. By then, it has read the declaration.
func awaitGateAtCreation(ctx context.Context, name string, run uint64) {
	GinkgoHelper()
	Eventually(func() (map[string]string, error) {
		trial := addOn(clusters[0], runName(name, run))
		err := hub.Client.Create(ctx, trial, client.DryRunAll)
		return trial.Annotations, err
	}).WithContext(ctx).WithPolling(100 * time.Millisecond).Should(HaveKeyWithValue(interlockv1alpha1.GateAnnotation,
		interlockv1alpha1.GateClosed))
}
