package simulator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/procfs"
	"k8s.io/client-go/kubernetes"
)

// Usage is what a process has used.
type Usage struct {
	// CPU is user and system time since it started.
	CPU time.Duration
	// RSS and Peak are its resident memory in MiB: now, and at most so far.
	RSS, Peak float64
}

// UsageOf reads what a process has used from /proc.
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

// ForgetPeak has the kernel measure the peak of a process's memory anew.
func ForgetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0o200)
}

func mebibytes(bytes uint64) float64 { return float64(bytes) / (1 << 20) }

// CPU returns the processor time that the API server has used.
func (h *Hub) CPU(ctx context.Context) (time.Duration, error) {
	clients, err := kubernetes.NewForConfig(unthrottled(h.cluster.Config))
	if err != nil {
		return 0, fmt.Errorf("ask the API server for its metrics: %w", err)
	}
	text, err := clients.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, fmt.Errorf("ask the API server for its metrics: %w", err)
	}
	seconds, err := sumMetric(text, "process_cpu_seconds_total")
	return time.Duration(seconds * float64(time.Second)), err
}

// sumMetric adds up all series of a metric: counters, gauges, and the counts of
// histograms.
func sumMetric(text []byte, name string) (float64, error) {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return 0, fmt.Errorf("read metrics: %w", err)
	}
	sum := 0.0
	for _, metric := range families[name].GetMetric() {
		sum += metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
	}
	return sum, nil
}
