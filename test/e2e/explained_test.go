//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// expectExplained fails for all that was seen and should not have been: of a
// flipping fleet a change of leaf that no change of base explains, of all else
// any change; and a write that says nothing new.
func (w *witness) expectExplained(ctx context.Context, flipping *fleet) {
	GinkgoHelper()
	Expect(w.lost).To(BeEmpty())
	Expect(w.empty).To(BeEmpty(), "writes of Interlock that change nothing")
	unexplained := map[types.NamespacedName][]write{}
	answers := 0
	for key, writes := range w.writes {
		writes = slices.DeleteFunc(slices.Clone(writes), func(one write) bool { return len(one.conditions) == 0 })
		switch {
		case !slices.Contains(flipping.clusters, key.Namespace):
			unexplained[key] = writes
		case key.Name == leaf:
			answers += answersAmong(w.writes[key])
			unexplained[key] = unexplainedBy(w.writes[types.NamespacedName{Namespace: key.Namespace, Name: base}], writes)
		}
	}
	maps.DeleteFunc(unexplained, func(_ types.NamespacedName, writes []write) bool { return len(writes) == 0 })
	Expect(unexplained).To(BeEmpty(), "changes of conditions without a reason")
	// A server-side apply that changes nothing is an event for nobody, but the API server has counted it.
	Expect(applies(ctx)-w.applied).To(BeNumerically("<=", answers),
		"server-side applies of conditions, of which %d were seen to change leaf", answers)
}

// unexplainedBy are the changes of leaf that do not each follow a change of
// base of their own, in the order in which base changed: an older state of base
// that comes back is not explained by anything.
func unexplainedBy(bases, leaves []write) []write {
	var unexplained []write
	next := 0
	for _, change := range leaves {
		wanted := metav1.ConditionFalse // of base's Available
		if change.conditions[degraded] == metav1.ConditionFalse {
			wanted = metav1.ConditionTrue
		}
		found := slices.IndexFunc(bases[next:], func(cause write) bool {
			return cause.number < change.number && cause.conditions[available] == wanted
		})
		if _, other := change.conditions[available]; found < 0 || other {
			unexplained = append(unexplained, change)
			continue
		}
		next += found + 1
	}
	return unexplained
}

// applies is how many server-side applies of an add-on's status the API server
// has taken so far. Nobody but Interlock writes so.
func applies(ctx context.Context) float64 {
	GinkgoHelper()
	cluster, err := kubernetes.NewForConfig(hubConfig)
	Expect(err).NotTo(HaveOccurred())
	page, err := cluster.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(page))
	Expect(err).NotTo(HaveOccurred())
	total := 0.0
	for _, metric := range families["apiserver_request_total"].GetMetric() {
		has := map[string]string{}
		for _, pair := range metric.GetLabel() {
			has[pair.GetName()] = pair.GetValue()
		}
		applied := has["resource"] == "managedclusteraddons" && has["subresource"] == "status" && has["verb"] == "APPLY"
		if applied && has["code"] == "200" && has["dry_run"] == "" {
			total += metric.GetCounter().GetValue()
		}
	}
	return total
}
