package simulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/procfs"
	"k8s.io/client-go/kubernetes"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// Usage is the processor time and memory of a process.
type Usage struct {
	// CPU is user and system time since the start of the process.
	CPU time.Duration
	// RSS and Peak are its resident memory in MiB: now, and at most so far.
	RSS, Peak float64
}

// UsageOf reads the usage of a process from /proc.
func UsageOf(pid int) (Usage, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return Usage{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	stat, err := process.Stat()
	status, statusErr := process.NewStatus()
	if err := errors.Join(err, statusErr); err != nil {
		return Usage{}, fmt.Errorf("look at process %d: %w", pid, err)
	}
	return Usage{
		CPU: time.Duration(stat.CPUTime() * float64(time.Second)),
		RSS: mebibytes(status.VmRSS), Peak: mebibytes(status.VmHWM),
	}, nil
}

// ForgetPeak makes the kernel measure the peak of a process's memory anew.
func ForgetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o200)
}

func mebibytes(bytes uint64) float64 { return float64(bytes) / (1 << 20) }

// CPU returns the processor time that the API server has used.
func (h *Hub) CPU(ctx context.Context) (time.Duration, error) {
	text, err := h.metrics(ctx)
	if err != nil {
		return 0, err
	}
	seconds, err := sumMetric(text, "process_cpu_seconds_total", nil)
	return time.Duration(seconds * float64(time.Second)), err
}

// Watches returns how many watches of add-ons are open at the API server.
func (h *Hub) Watches(ctx context.Context) (int, error) {
	text, err := h.metrics(ctx)
	if err != nil {
		return 0, err
	}
	open, err := sumMetric(text, "apiserver_longrunning_requests", map[string]string{"verb": "WATCH", "group": addonv1alpha1.GroupVersion.Group})
	return int(open), err
}

func (h *Hub) metrics(ctx context.Context) ([]byte, error) {
	clients, err := kubernetes.NewForConfig(unthrottled(h.cluster.Config))
	if err != nil {
		return nil, fmt.Errorf("request the API server's metrics: %w", err)
	}
	text, err := clients.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("request the API server's metrics: %w", err)
	}
	return text, nil
}

// sumMetric adds up the series of a metric with these labels: counters, gauges,
// and the counts of histograms.
func sumMetric(text []byte, name string, labels map[string]string) (float64, error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return 0, fmt.Errorf("read metrics: %w", err)
	}
	sum := 0.0
	for _, metric := range families[name].GetMetric() {
		if !hasLabels(metric, labels) {
			continue
		}
		sum += metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
	}
	return sum, nil
}

func hasLabels(metric *dto.Metric, labels map[string]string) bool {
	matches := 0
	for _, label := range metric.GetLabel() {
		if value, ok := labels[label.GetName()]; ok && value == label.GetValue() {
			matches++
		}
	}
	return matches == len(labels)
}
