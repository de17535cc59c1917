package simulator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Fault is a kind of faulty response.
type Fault string

// The faults.
const (
	NoFault     Fault = ""
	TooMany     Fault = "429"      // refused, to be tried again after a second
	Conflict    Fault = "conflict" // as if another writer was faster
	NotReached  Fault = "time-out" // a 504, and the request never arrived
	AnswerLost  Fault = "lost"     // a 504, although the request was carried out
	retryAfterS       = 1
)

var faults = []Fault{TooMany, Conflict, NotReached, AnswerLost}

// Faults draws the faulty responses, with the same sequence for the same seed. It is safe for concurrent use.
type Faults struct {
	share float64

	mutex  sync.Mutex
	random *rand.Rand
	drawn  map[Fault]int
}

// NewFaults replaces a share (0 to 1) of all responses by faults.
func NewFaults(seed uint64, share float64) *Faults {
	return &Faults{share: share, random: rand.New(rand.NewPCG(seed, 1)), drawn: map[Fault]int{}}
}

// Draw decides on one response. A read cannot be in conflict.
func (f *Faults) Draw(write bool) Fault {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	fault := NoFault
	if f.random.Float64() < f.share {
		fault = faults[f.random.IntN(len(faults))]
		if fault == Conflict && !write {
			fault = TooMany
		}
	}
	f.drawn[fault]++
	return fault
}

// Requests returns the number of responses that it has decided on.
func (f *Faults) Requests() int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	sum := 0
	for _, count := range f.drawn {
		sum += count
	}
	return sum
}

// Count returns how often a fault was drawn.
func (f *Faults) Count(fault Fault) int {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	return f.drawn[fault]
}

// Proxy forwards requests of a client to the hub's API server, on the loopback interface. It uses the hub's user, so
// the client needs no credentials.
type Proxy struct {
	// Kubeconfig is the path of a file that leads to the hub by this proxy.
	Kubeconfig string

	server *http.Server
	served chan error
}

// StartProxy starts a proxy that uses addon-manager's user on the hub.
func (h *Hub) StartProxy(faults *Faults) (*Proxy, error) {
	user, err := h.User(ManagerUser)
	if err != nil {
		return nil, err
	}
	handler, err := newFaultHandler(user.Config, faults.Draw)
	if err != nil {
		return nil, fmt.Errorf("start proxy: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start proxy: %w", err)
	}
	proxy := &Proxy{
		Kubeconfig: filepath.Join(h.dir, "proxy.kubeconfig"), served: make(chan error, 1),
		server: &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute, Protocols: new(http.Protocols)},
	}
	proxy.server.Protocols.SetHTTP1(true)
	go func() { proxy.served <- proxy.server.Serve(listener) }()
	if err := writeProxyKubeconfig(proxy.Kubeconfig, listener.Addr().String()); err != nil {
		return nil, errors.Join(err, proxy.Stop())
	}
	return proxy, nil
}

// Stop closes all connections.
func (p *Proxy) Stop() error {
	err := p.server.Close()
	if served := <-p.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func writeProxyKubeconfig(path, address string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"] = &clientcmdapi.Cluster{Server: "http://" + address}
	config.Contexts["hub"] = &clientcmdapi.Context{Cluster: "hub"}
	config.CurrentContext = "hub"
	text, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("write kubeconfig of the proxy: %w", err)
	}
	return os.WriteFile(path, text, 0o600)
}

// newFaultHandler forwards requests to the host of config, unless draw returns a fault. Watches are always forwarded.
func newFaultHandler(config *rest.Config, draw func(write bool) Fault) (http.Handler, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, err
	}
	forward := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: transport, FlushInterval: -1,
		// A client that disconnects does not concern the proxy.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			forward.ServeHTTP(w, r)
			return
		}
		write := r.Method != http.MethodGet
		switch fault := draw(write); fault {
		case NoFault:
			forward.ServeHTTP(w, r)
		case AnswerLost:
			forward.ServeHTTP(httptest.NewRecorder(), r.WithContext(context.WithoutCancel(r.Context())))
			answer(w, fault)
		default:
			answer(w, fault)
		}
	}), nil
}

// answer responds like an API server with that fault.
func answer(w http.ResponseWriter, fault Fault) {
	resource := schema.GroupResource{Group: "addon.open-cluster-management.io", Resource: "managedclusteraddons"}
	var failure *apierrors.StatusError
	switch fault {
	case TooMany:
		failure = apierrors.NewTooManyRequests("The server is busy.", retryAfterS)
		w.Header().Set("Retry-After", strconv.Itoa(retryAfterS))
	case Conflict:
		failure = apierrors.NewConflict(resource, "", errors.New("the object has been modified"))
	default:
		failure = apierrors.NewTimeoutError("The request did not complete in time.", 0)
	}
	status := failure.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	_ = json.NewEncoder(w).Encode(status) // the client has gone
}
