package ocm

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/testenv"
)

const (
	// patience is how long a component may take to start. Many start at once on two cores.
	patience = 2 * time.Minute
	// restartAfter is how long a component that ended by itself stays down. A kubelet also restarts it, after 10 s.
	restartAfter = 2 * time.Second
	lastLines    = 8
)

// Component is a program of OCM, or kube-controller-manager, as a process. A component that ends by itself is
// started again, like a kubelet does.
type Component struct {
	name    string
	path    string
	log     string
	dir     string
	address string
	args    func(address string) []string
	// health is the path that responds once the component runs. If it is empty, a connection suffices.
	health string

	mutex   sync.Mutex
	running *process.Process
}

// Log returns the file with all output of the component.
func (c *Component) Log() string { return c.log }

// Start starts the component and returns once it is healthy. It does nothing if the component runs.
func (c *Component) Start(ctx context.Context) error {
	c.mutex.Lock()
	err := c.launch()
	c.mutex.Unlock()
	if err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		return c.healthy(ctx), nil
	})
	if err != nil {
		return fmt.Errorf("%s does not become healthy: %w%s", c.name, err, c.lastOutput())
	}
	return nil
}

// launch expects the mutex to be locked.
func (c *Component) launch() error {
	if c.running != nil {
		return nil
	}
	if c.address == "" {
		c.address = testenv.FreeAddress().String()
	}
	started, err := process.Command{
		Path: c.path, Log: c.log, Args: c.args(c.address),
		// The environment of a pod. In TMPDIR, library-go stores its certificates.
		Env: []string{
			"TMPDIR=" + c.dir, "HOME=" + c.dir, "POD_NAME=" + c.name, "POD_NAMESPACE=" + hubNamespace, "GOGC=" + os.Getenv("GOGC"),
		},
	}.Start()
	if err != nil {
		return err
	}
	c.running = started
	go c.restart(started)
	return nil
}

// restart starts the component again if it has ended by itself.
func (c *Component) restart(ended *process.Process) {
	<-ended.Done()
	if !c.endedByItself(ended) {
		return
	}
	time.Sleep(restartAfter)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.running != ended {
		return
	}
	c.running = nil
	_ = c.launch() // the wait for its health returns the end of its output
}

func (c *Component) endedByItself(ended *process.Process) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.running == ended
}

// Stop ends the component like a pod, and waits until it has ended. The exit code does not matter.
func (c *Component) Stop(ctx context.Context) error {
	running := c.release()
	if running == nil {
		return nil
	}
	select {
	case <-running.Done():
		return nil
	default:
	}
	_ = running.Stop(ctx) // the exit code may differ from 0, and a component that does not stop in time is killed
	select {
	case <-running.Done():
		return nil
	case <-time.After(patience):
		return fmt.Errorf("%s does not end%s", c.name, c.lastOutput())
	}
}

// Kill ends the component at once, like the loss of its node. It stays down until Start.
func (c *Component) Kill() error {
	running := c.release()
	if running == nil {
		return nil
	}
	return running.Kill()
}

func (c *Component) release() *process.Process {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	running := c.running
	c.running = nil
	return running
}

func (c *Component) healthy(ctx context.Context) bool {
	if c.health == "" {
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", c.address)
		if err != nil {
			return false
		}
		return connection.Close() == nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+c.address+c.health, nil)
	if err != nil {
		return false
	}
	response, err := probe.Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// probe trusts any certificate, like a kubelet's probes.
var probe = &http.Client{
	Timeout: 5 * time.Second,
	Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
		DisableKeepAlives: true,
	},
}

// lastOutput returns the end of the log, for errors.
func (c *Component) lastOutput() string {
	content, err := os.ReadFile(c.log)
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	if err != nil || lines[0] == "" {
		return "; it printed nothing to " + c.log
	}
	return fmt.Sprintf("; the end of %s:\n%s", c.log, strings.Join(lines[max(0, len(lines)-lastLines):], "\n"))
}
