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

// settled is how long an object stays the same before it is recorded.
const settled = 3 * time.Second

// registration and addOn are objects of the hub as GitOps tools read them.
func registration(name string) *unstructured.Unstructured {
	return object("ClusterManagementAddOn", "", name)
}

func addOn(name string) *unstructured.Unstructured {
	return object("ManagedClusterAddOn", managed.Name, name)
}

func object(kind, namespace, name string) *unstructured.Unstructured {
	made := &unstructured.Unstructured{}
	made.SetAPIVersion("addon.open-cluster-management.io/v1alpha1")
	made.SetKind(kind)
	made.SetNamespace(namespace)
	made.SetName(name)
	return made
}

// record writes an object to a file once it has reached the state, or without -update
// expects what it finds in the file. The state is the condition of a type with a status
// and a reason, such as "Available=True ProbeAvailable".
func record(ctx context.Context, of *unstructured.Unstructured, file string, states ...string) {
	GinkgoHelper()
	path := filepath.Join(records, file)
	found := func(g Gomega) string {
		object := of.DeepCopy()
		g.Expect(hub.Client.Get(ctx, client.ObjectKeyFromObject(of), object)).To(Succeed())
		g.Expect(conditions(object.Object["status"])).To(ContainElements(states))
		return text(g, object)
	}
	Eventually(func(g Gomega) { found(g) }).Should(Succeed())
	if *update {
		var last string
		Eventually(func(g Gomega) {
			before := last
			last = found(g)
			g.Expect(last).To(Equal(before))
		}).WithPolling(settled).Should(Succeed(), "it does not change any more")
		Expect(os.WriteFile(path, []byte(last), 0o600)).To(Succeed())
		return
	}
	recorded, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred(), "go test ./test/integration/gitops -update records it")
	Eventually(found).Should(Equal(string(recorded)), "go test ./test/integration/gitops -update records it anew")
}

// conditions are all conditions at and below a part of an object.
func conditions(of any) (all []string) {
	switch part := of.(type) {
	case map[string]any:
		if part["type"] != nil && part["reason"] != nil {
			return []string{part["type"].(string) + "=" + part["status"].(string) + " " + part["reason"].(string)}
		}
		for _, below := range part {
			all = append(all, conditions(below)...)
		}
	case []any:
		for _, below := range part {
			all = append(all, conditions(below)...)
		}
	}
	return all
}

// moment is a time in an object.
var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

// text is an object without what differs from one record to the next: times, versions and
// the order in which the writers came, or which OCM takes from a map (supportedConfigs of
// an AddOnTemplate).
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
		for _, below := range part {
			strip(below)
		}
	case []any:
		slices.SortStableFunc(part, func(a, b any) int { return strings.Compare(keyOf(a), keyOf(b)) })
		for _, below := range part {
			strip(below)
		}
	}
}

// keyOf is the type of a condition, the resource of a kind of configuration, and empty for
// anything else.
func keyOf(part any) string {
	of, _ := part.(map[string]any)
	for _, name := range []string{"type", "resource"} {
		if key, found := of[name].(string); found {
			return key
		}
	}
	return ""
}
