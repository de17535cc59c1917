package gitops

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const records = "../../../hack/gitops/testdata"

// settled is how long an object has to stay the same before it is recorded.
const settled = 3 * time.Second

// registration and addOn return objects of the hub as GitOps tools read them.
func registration(name string) *unstructured.Unstructured {
	return object("ClusterManagementAddOn", "", name)
}

func addOn(name string) *unstructured.Unstructured {
	return object("ManagedClusterAddOn", managed.Name, name)
}

func object(kind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("addon.open-cluster-management.io/v1alpha1")
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// record waits until an object has reached states. With -update it writes the object to a file, and without it compares the object with
// the file. A
// state is a condition as type, status and reason, such as "Available=True ProbeAvailable".
func record(ctx context.Context, key *unstructured.Unstructured, file string, states ...string) {
	GinkgoHelper()
	path := filepath.Join(records, file)
	readText := func(g Gomega) string {
		object := key.DeepCopy()
		g.Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(key), object)).To(Succeed())
		g.Expect(conditions(object.Object["status"])).To(ContainElements(states))
		return text(g, object)
	}
	Eventually(func(g Gomega) { readText(g) }).Should(Succeed())
	if *update {
		var current string
		Eventually(func(g Gomega) {
			previous := current
			current = readText(g)
			g.Expect(current).To(Equal(previous))
		}).WithPolling(settled).Should(Succeed(), "it does not change any more")
		Expect(os.WriteFile(path, []byte(current), 0o600)).To(Succeed())
		return
	}
	if !isRecordedVersion() { // it writes other fields, so the conditions have to suffice
		return
	}
	expected, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred(), "go test ./test/integration/gitops -update records it")
	Eventually(readText).Should(Equal(string(expected)), "go test ./test/integration/gitops -update records it anew")
}

// isRecordedVersion reports whether the hub runs the minor version of OCM that the files were recorded with, that of test/ocm.
func isRecordedVersion() bool {
	GinkgoHelper()
	goMod, err := os.ReadFile("../../ocm/go.mod")
	Expect(err).NotTo(HaveOccurred())
	recorded := regexp.MustCompile(`open-cluster-management\.io/ocm v(\d+\.\d+)\.`).FindStringSubmatch(string(goMod))
	Expect(recorded).NotTo(BeNil())
	running, err := hub.Version()
	Expect(err).NotTo(HaveOccurred())
	return strings.HasPrefix(running, recorded[1]+".")
}

// conditions returns all conditions at and below a part of an object.
func conditions(root any) (states []string) {
	switch part := root.(type) {
	case map[string]any:
		if part["type"] != nil && part["reason"] != nil {
			return []string{part["type"].(string) + "=" + part["status"].(string) + " " + part["reason"].(string)}
		}
		for _, child := range part {
			states = append(states, conditions(child)...)
		}
	case []any:
		for _, child := range part {
			states = append(states, conditions(child)...)
		}
	}
	return states
}

// moment matches a time in an object.
var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

// text returns an object without the fields that differ from one record to the next: times, versions, the order of the writers, and the
// order that OCM takes from a map (supportedConfigs of an AddOnTemplate).
func text(g Gomega, object *unstructured.Unstructured) string {
	strip(object.Object)
	content, err := yaml.Marshal(object.Object)
	g.Expect(err).NotTo(HaveOccurred())
	return moment.ReplaceAllString(string(content), "2026-01-01T00:00:00Z")
}

func strip(part any) {
	switch part := part.(type) {
	case map[string]any:
		for _, name := range []string{"managedFields", "uid", "resourceVersion"} {
			delete(part, name)
		}
		for _, child := range part {
			strip(child)
		}
	case []any:
		slices.SortStableFunc(part, func(a, b any) int { return strings.Compare(keyOf(a), keyOf(b)) })
		for _, child := range part {
			strip(child)
		}
	}
}

// keyOf returns the type of a condition, or the resource of a kind of configuration. It is empty for anything else.
func keyOf(part any) string {
	fields, _ := part.(map[string]any)
	for _, name := range []string{"type", "resource"} {
		if key, ok := fields[name].(string); ok {
			return key
		}
	}
	return ""
}
