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

// expectExplained fails for every unexpected change. On clusters of a flipping fleet, a change of leaf without a
// change of base is unexpected. Elsewhere any change is. A write without a change is always unexpected.
func (w *witness) expectExplained(ctx context.Context, flipping *fleet) {
	GinkgoHelper()
	Expect(w.lost).To(BeEmpty())
	Expect(w.empty).To(BeEmpty(), "writes of Interlock that change nothing")
	unexplained := map[types.NamespacedName][]write{}
	answers := 0
	for key, writes := range w.writes {
		writes = slices.DeleteFunc(slices.Clone(writes), func(change write) bool { return len(change.conditions) == 0 })
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
	// A server-side apply without a change triggers no event, but the API server has counted it.
	Expect(applies(ctx)-w.applied).To(BeNumerically("<=", answers),
		"server-side applies of conditions, of which %d were seen to change leaf", answers)
}

// unexplainedBy returns the changes of leaf that do not follow their own change of base, in the order of the changes
// of base. Nothing explains the return to an older state of base.
func unexplainedBy(bases, leaves []write) []write {
	var unexplained []write
	next := 0
	for _, change := range leaves {
		status := metav1.ConditionFalse // of base's Available
		if change.conditions[degraded] == metav1.ConditionFalse {
			status = metav1.ConditionTrue
		}
		index := slices.IndexFunc(bases[next:], func(cause write) bool {
			return cause.number < change.number && cause.conditions[available] == status
		})
		if _, changesAvailable := change.conditions[available]; index < 0 || changesAvailable {
			unexplained = append(unexplained, change)
			continue
		}
		next += index + 1
	}
	return unexplained
}

// applies returns the number of server-side applies of an add-on's status that the API server has accepted so far.
// Only Interlock writes this way.
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
		labels := map[string]string{}
		for _, pair := range metric.GetLabel() {
			labels[pair.GetName()] = pair.GetValue()
		}
		applied := labels["resource"] == "managedclusteraddons" && labels["subresource"] == "status" && labels["verb"] == "APPLY"
		if applied && labels["code"] == "200" && labels["dry_run"] == "" {
			total += metric.GetCounter().GetValue()
		}
	}
	return total
}
