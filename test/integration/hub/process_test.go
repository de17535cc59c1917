package hub

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"open-cluster-management.io/interlock/pkg/compat/graft"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub"
	"open-cluster-management.io/interlock/pkg/hub/metrics"
)

// process is an addon-manager.
type process struct {
	registry *prometheus.Registry
	elected  <-chan struct{}
	exit     chan struct{} // closed when the process has ended
	failure  error         // the error with which it ended
	cancel   context.CancelFunc
	cut      atomic.Bool
}

// start starts an addon-manager, which stops with the spec at the latest.
func start(configure ...func(*hub.Options)) *process {
	GinkgoHelper()
	options := hub.Options{
		MetricsAddress: "0", HealthAddress: "0", Offline: evaluation.OfflineHold, Concurrency: 4,
		LeaderElectionNamespace: "kube-system", Graft: &graft.Settings{Keep: true}, // the default without flags
	}
	for _, change := range configure {
		change(&options)
	}
	p := &process{registry: prometheus.NewRegistry(), exit: make(chan struct{})}
	options.Registry = p.registry
	config := rest.CopyConfig(hubConfig)
	config.Wrap(p.line)
	var runContext context.Context
	runContext, p.cancel = context.WithCancel(ctx)
	manager, err := hub.NewManager(config, options)
	Expect(err).NotTo(HaveOccurred())
	p.elected = manager.Elected()
	go func() {
		defer close(p.exit)
		p.failure = manager.Start(runContext)
	}()
	DeferCleanup(p.stop)
	Expect(manager.GetCache().WaitForCacheSync(runContext)).To(BeTrue())
	return p
}

// stop ends the process as a SIGTERM does.
func (p *process) stop() {
	p.cancel()
	Eventually(p.exit).Should(BeClosed())
}

var errCut = errors.New("the line to the hub is cut")

// line is the connection to the hub. While it is cut, the process seems dead, because it neither renews nor releases its lease.
func (p *process) line(transport http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if p.cut.Load() {
			return nil, errCut
		}
		return transport.RoundTrip(request)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// series returns the values of a metric that have all of the labels.
func (p *process) series(name string, labels ...string) func() ([]float64, error) {
	return func() ([]float64, error) {
		families, err := p.registry.Gather()
		var values []float64
		for _, family := range families {
			if family.GetName() == name {
				values = append(values, valuesOf(family, labels)...)
			}
		}
		return values, err
	}
}

// unsatisfied returns the series of the unsatisfied dependencies of an add-on.
func (p *process) unsatisfied(addOn string, labels ...string) func() ([]float64, error) {
	return p.series(metrics.NameUnsatisfied, append([]string{"addon", addOn}, labels...)...)
}

// problem returns the series of one kind of problem of a declaration.
func (p *process) problem(addOn string, reason declaration.ProblemReason) func() ([]float64, error) {
	return p.series(metrics.NameInvalid, "addon", addOn, "problem", string(reason))
}

// evaluations counts how often the process has evaluated an add-on.
func (p *process) evaluations() float64 {
	values, err := p.series(metrics.NameEvaluation)()
	Expect(err).NotTo(HaveOccurred())
	return sum(values)
}

// rest waits until the process evaluates nothing any more.
func (p *process) rest() {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		evaluationsBefore := p.evaluations()
		g.Consistently(p.evaluations, "400ms").Should(Equal(evaluationsBefore))
	}).Should(Succeed())
}

// writes counts, at the API server, all writes of add-ons by all components.
func writes() float64 {
	GinkgoHelper()
	var total float64
	for _, verb := range []string{"APPLY", "PATCH", "PUT", "POST", "DELETE"} {
		total += requests(verb)
	}
	return total
}

// applies counts, at the API server, the successful applies, which only addon-manager does here. It does not count conflicts, which
// result from an evaluation before the watch has delivered the manager's own write. It does not count requests that a stop interrupts
// either.
func applies() float64 {
	GinkgoHelper()
	return requests("APPLY", "code", "200")
}

// requests counts, at the API server, the requests for ManagedClusterAddOns.
func requests(verb string, labels ...string) float64 {
	GinkgoHelper()
	clients, err := kubernetes.NewForConfig(hubConfig)
	Expect(err).NotTo(HaveOccurred())
	page, err := clients.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(page))
	Expect(err).NotTo(HaveOccurred())
	family := families["apiserver_request_total"]
	Expect(family).NotTo(BeNil())
	return sum(valuesOf(family, append([]string{"resource", "managedclusteraddons", "verb", verb}, labels...)))
}

func valuesOf(family *dto.MetricFamily, labels []string) []float64 {
	var values []float64
	for _, metric := range family.GetMetric() {
		labelValues := map[string]string{}
		for _, pair := range metric.GetLabel() {
			labelValues[pair.GetName()] = pair.GetValue()
		}
		matches := true
		for i := 0; i < len(labels); i += 2 {
			matches = matches && labelValues[labels[i]] == labels[i+1]
		}
		if matches {
			values = append(values, metric.GetGauge().GetValue()+metric.GetCounter().GetValue()+
				float64(metric.GetHistogram().GetSampleCount()))
		}
	}
	return values
}

func sum(values []float64) (total float64) {
	for _, value := range values {
		total += value
	}
	return total
}
