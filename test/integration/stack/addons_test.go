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

// portal is at the top of the stack.
const portal = "portal"

// needs is the stack: what each add-on requires.
var needs = map[string][]string{
	portal: {"gateway", "tunnel"}, "gateway": {"tokens"}, "tunnel": {"tokens", "certs"}, "tokens": nil, "certs": nil,
}

// registered are the registrations and AddOnTemplates of docs/examples/stack, with the names of a run.
func registered(run uint64) (all []*unstructured.Unstructured) {
	GinkgoHelper()
	content, err := os.ReadFile("../../../docs/examples/stack/stack.yaml")
	Expect(err).NotTo(HaveOccurred())
	names := regexp.MustCompile(`\b(` + strings.Join(slices.Sorted(maps.Keys(needs)), "|") + `)\b`)
	for _, document := range strings.Split(names.ReplaceAllString(string(content), "$1-"+strconv.FormatUint(run, 10)), "\n---\n") {
		object := &unstructured.Unstructured{}
		Expect(yaml.Unmarshal([]byte(document), &object.Object)).To(Succeed())
		all = append(all, object)
	}
	return all
}

func installed(cluster, name string) *addonv1alpha1.ManagedClusterAddOn {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
}

// probe waits until the gate rule is in force, and the webhook closes gates. It needs an add-on that is installed.
func probe(ctx context.Context) {
	GinkgoHelper()
	for _, object := range registered(0) {
		Expect(hub.Client.Create(ctx, object)).To(Succeed())
	}
	Expect(hub.Client.Create(ctx, installed(clusters[0], of("certs", 0)))).To(Succeed())
	Eventually(leader).WithContext(ctx).Should(BeNumerically(">=", 0))
	waitsAtCreation(ctx, portal, 0)
}

// waitsAtCreation waits until the webhook closes the gate of an add-on: it has read what the add-on declares.
func waitsAtCreation(ctx context.Context, name string, run uint64) {
	GinkgoHelper()
	Eventually(func() (map[string]string, error) {
		trial := installed(clusters[0], of(name, run))
		err := hub.Client.Create(ctx, trial, client.DryRunAll)
		return trial.Annotations, err
	}).WithContext(ctx).WithPolling(100 * time.Millisecond).Should(HaveKeyWithValue(interlockv1alpha1.GateAnnotation,
		interlockv1alpha1.GateClosed))
}
