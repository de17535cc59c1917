package interlock

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"open-cluster-management.io/interlock/test/testenv"
)

// probePeriod is the period of the readiness probes. In deploy/hub it is two seconds. A short one gives a replica no
// more time.
const probePeriod = 50 * time.Millisecond

// Service forwards connections to ready replicas of addon-manager webhook, like a Service of Kubernetes. The API
// server calls it in place of the single replica of Serve.
type Service struct {
	i        *Interlock
	listener net.Listener
	probes   *http.Client

	mutex    sync.Mutex
	replicas []*Replica
	// next counts the connections, to spread them.
	next  int
	stops []func()
}

// Replica is a replica of addon-manager webhook behind a Service.
type Replica struct {
	*Running
	address, health string
	// ready is the result of the latest probe. out is true once the replica is taken out of the Service.
	ready, out bool
}

// ServeBehindService starts a Service without replicas, which ends with the spec. No other process may serve.
func (i *Interlock) ServeBehindService() *Service {
	GinkgoHelper()
	listener, err := net.Listen("tcp", i.address.String())
	Expect(err).NotTo(HaveOccurred())
	s := &Service{i: i, listener: listener, probes: &http.Client{Timeout: time.Second}}
	DeferCleanup(s.close)
	go s.accept()
	return s
}

// Start starts a replica. It gets connections once it is ready.
func (s *Service) Start(flags ...string) *Replica {
	GinkgoHelper()
	r := &Replica{address: testenv.FreeAddress().String(), health: testenv.FreeAddress().String()}
	r.Running = s.i.Serve(append(flags, "--webhook-bind-address="+r.address, "--health-probe-bind-address="+r.health)...)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.replicas = append(s.replicas, r)
	ctx, stop := context.WithCancel(context.Background())
	s.stops = append(s.stops, stop, func() { _ = r.Kill() }) // a stopped process cannot be killed
	go s.probe(ctx, r)
	return r
}

// Ready reports whether a replica gets connections.
func (s *Service) Ready(r *Replica) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return r.ready && !r.out
}

// Retire stops a replica like Kubernetes: the replica gets a signal at the moment when the Service begins to take it
// out.
func (s *Service) Retire(ctx context.Context, r *Replica) error {
	stopped := make(chan error, 1)
	go func() { stopped <- r.Stop(ctx) }()
	s.mutex.Lock()
	r.out = true
	s.mutex.Unlock()
	return <-stopped
}

func (s *Service) probe(ctx context.Context, r *Replica) {
	ticks := time.NewTicker(probePeriod)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		response, err := s.probes.Get("http://" + r.health + "/readyz") //nolint:noctx // bounded by the client
		if err == nil {
			err = response.Body.Close()
		}
		s.mutex.Lock()
		r.ready = err == nil && response.StatusCode == http.StatusOK
		s.mutex.Unlock()
	}
}

// choose returns the address of a ready replica. It is empty if no replica is ready.
func (s *Service) choose() string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.next++
	for i := range s.replicas {
		if r := s.replicas[(s.next+i)%len(s.replicas)]; r.ready && !r.out {
			return r.address
		}
	}
	return ""
}

func (s *Service) accept() {
	for {
		connection, err := s.listener.Accept()
		if err != nil {
			return // it is closed
		}
		go s.pass(connection)
	}
}

// pass connects a client with a replica, until one of them ends the connection.
func (s *Service) pass(client net.Conn) {
	defer func() { _ = client.Close() }()
	address := s.choose()
	if address == "" {
		return
	}
	replica, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer func() { _ = replica.Close() }()
	ended := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{client, replica}, {replica, client}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1]) // how it ended does not matter
			ended <- struct{}{}
		}()
	}
	<-ended
}

func (s *Service) close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, stop := range s.stops {
		stop()
	}
	return errors.Join(s.listener.Close())
}
