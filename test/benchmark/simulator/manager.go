package simulator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"open-cluster-management.io/interlock/pkg/hub/metrics"
	"open-cluster-management.io/interlock/test/process"
)

// ManagerUser is addon-manager's user on the hub.
const ManagerUser = "system:serviceaccount:open-cluster-management:interlock-addon-manager"

const (
	pollEvery     = 10 * time.Millisecond
	startPatience = 10 * time.Minute
)

// Manager is an addon-manager in its own process.
type Manager struct {
	*process.Process
	// Started is when the process was started.
	Started time.Time

	metrics, health, profile string
}

// ManagerOptions are the options of an addon-manager.
type ManagerOptions struct {
	// Binary is the path of the program.
	Binary string
	// Name distinguishes the logs of several addon-managers.
	Name string
	// Kubeconfig replaces the kubeconfig that leads straight to the hub.
	Kubeconfig string
	// Elect makes it wait until it is the leader.
	Elect bool
	// Reports is the value of --reports. It is off if empty.
	Reports string
	// Lifecycle is whether it installs and removes add-ons.
	Lifecycle bool
}

// StartManager starts an addon-manager. It does not wait until addon-manager is ready.
func (h *Hub) StartManager(o ManagerOptions) (*Manager, error) {
	if o.Kubeconfig == "" {
		user, err := h.User(ManagerUser)
		if err != nil {
			return nil, err
		}
		o.Kubeconfig = user.Kubeconfig
	}
	addresses, err := freeAddresses(3)
	if err != nil {
		return nil, fmt.Errorf("find ports for addon-manager: %w", err)
	}
	manager := &Manager{Started: time.Now(), metrics: addresses[0], health: addresses[1], profile: addresses[2]}
	manager.Process, err = process.Start(o.Binary, filepath.Join(h.dir, o.Name+".log"),
		"--reports="+cmp.Or(o.Reports, "off"), fmt.Sprintf("--lifecycle=%t", o.Lifecycle), "--kubeconfig", o.Kubeconfig, fmt.Sprintf("--leader-elect=%t", o.Elect), "--leader-elect-namespace", "default",
		"--metrics-bind-address", manager.metrics, "--health-probe-bind-address", manager.health,
		"--pprof-bind-address", manager.profile, "--log-format", "json")
	if err != nil {
		return nil, fmt.Errorf("%w (build it with make build)", err)
	}
	return manager, nil
}

// AwaitReady waits until addon-manager reports that it is ready.
func (m *Manager) AwaitReady(ctx context.Context) error {
	return m.await(ctx, "ready", func(ctx context.Context) (bool, error) {
		_, err := get(ctx, "http://"+m.health+"/readyz")
		return err == nil, nil
	})
}

// AwaitEvaluated waits until addon-manager has made at least that many evaluations since it started, and has nothing
// more to do.
func (m *Manager) AwaitEvaluated(ctx context.Context, atLeast int) error {
	return m.await(ctx, fmt.Sprintf("done with %d evaluations", atLeast), func(ctx context.Context) (bool, error) {
		text, err := get(ctx, "http://"+m.metrics+"/metrics")
		if err != nil {
			return false, nil //nolint:nilerr // it does not serve them yet
		}
		evaluations, err := sumMetric(text, metrics.NameEvaluation, nil)
		waiting, waitErr := sumMetric(text, "workqueue_depth", nil)
		return evaluations >= float64(atLeast) && waiting == 0, errors.Join(err, waitErr)
	})
}

// Profile returns a profile in pprof's format: "heap", or "profile?seconds=10"
// of the processor.
func (m *Manager) Profile(ctx context.Context, kind string) ([]byte, error) {
	return get(ctx, "http://"+m.profile+"/debug/pprof/"+kind)
}

func (m *Manager) await(ctx context.Context, state string, condition wait.ConditionWithContextFunc) error {
	return await(ctx, m.Process, "addon-manager to be "+state, condition)
}

// await waits for a condition, until the program ends.
func await(ctx context.Context, program *process.Process, name string, condition wait.ConditionWithContextFunc) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-program.Done():
			cancel(errors.New("it has ended by itself"))
		case <-ctx.Done():
		}
	}()
	if err := wait.PollUntilContextTimeout(ctx, pollEvery, startPatience, true, condition); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return fmt.Errorf("wait for %s: %w", name, err)
	}
	return nil
}

func get(ctx context.Context, url string) (body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", url, response.Status)
	}
	return io.ReadAll(response.Body)
}

// freeAddresses returns addresses on the loopback interface on which no process listens. Other processes may take
// them before they are used, but seldom do.
func freeAddresses(count int) ([]string, error) {
	addresses := make([]string, count)
	for i := range addresses {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = listener.Close() }() // no client has connected
		addresses[i] = listener.Addr().String()
	}
	return addresses, nil
}
