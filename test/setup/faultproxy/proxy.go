// Package faultproxy forwards the requests of one program to an API server, and injects a fault at one of its writes.
package faultproxy

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Lag is the delay of a program's watches, if its caches begin with the lists of an earlier program.
const Lag = 400 * time.Millisecond

// Proxy forwards requests over HTTP on the loopback interface. It authenticates as the user of its configuration.
type Proxy struct {
	server    *http.Server
	listener  net.Listener
	transport http.RoundTripper
	forwarded *httputil.ReverseProxy
	target    *url.URL
	// earlier are the lists with which the caches of the program begin.
	earlier Lists
	// uncounted are parts of the paths of writes that are not counted.
	uncounted []string

	mutex  sync.Mutex
	writes []Write
	// changes is the number of writes that the API server has stored. number and fault describe the next fault. It happens at the first
	// write after number-1 changes, or at the change with this number if the fault follows the write. Without a fault, number is zero.
	changes int
	number  int
	fault   Fault
	struck  chan struct{}
	// released is closed when a held write may continue.
	released chan struct{}
	dead     bool
	// listed are the requests with which the program has filled its caches, and read are their responses just before
	// the fault.
	listed map[string]*http.Request
	read   Lists
}

// Write is a write that the program has requested.
type Write struct {
	Method, Path string
	// Code is the status of the response that the program has received. It is zero if the program has received none.
	Code int
	// Unchanged is true if the API server stored nothing new.
	Unchanged bool
}

func (w Write) String() string { return w.Method + " " + w.Path }

// Start starts a proxy to the API server of a configuration. If there are lists of an earlier program, the caches of
// the program begin with them, and follow after Lag. No fault happens at writes whose path has an uncounted part.
func Start(config *rest.Config, earlier Lists, uncounted ...string) (*Proxy, error) {
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect with %s: %w", config.Host, err)
	}
	target, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect with %s: %w", config.Host, err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for requests to %s: %w", config.Host, err)
	}
	p := &Proxy{
		listener: listener, transport: transport, target: target, earlier: earlier, uncounted: uncounted,
		struck: make(chan struct{}), released: make(chan struct{}), listed: map[string]*http.Request{},
	}
	p.forwarded = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1, // events of a watch are passed on at once
		ErrorHandler:  func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { _ = p.server.Serve(listener) }() // it returns once it is closed
	return p, nil
}

// Kubeconfig writes a kubeconfig for the program into a folder.
func (p *Proxy) Kubeconfig(folder string) (string, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"] = &clientcmdapi.Cluster{Server: "http://" + p.listener.Addr().String()}
	config.Contexts["hub"] = &clientcmdapi.Context{Cluster: "hub"}
	config.CurrentContext = "hub"
	path := filepath.Join(folder, fmt.Sprintf("proxy-%d.kubeconfig", p.listener.Addr().(*net.TCPAddr).Port))
	content, err := clientcmd.Write(*config)
	if err != nil {
		return "", err
	}
	return path, os.WriteFile(path, content, 0o600)
}

// Close closes all connections.
func (p *Proxy) Close() error { return p.server.Close() }

// Inject makes a fault happen at a write. Only writes that change something are counted, from now and from 1. Earlier writes are
// forgotten.
func (p *Proxy) Inject(number int, fault Fault) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.writes, p.changes, p.number, p.fault = nil, 0, number, fault
	p.struck, p.released = make(chan struct{}), make(chan struct{})
}

// Struck is closed once the fault has happened.
func (p *Proxy) Struck() <-chan struct{} {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.struck
}

// Disarm makes no fault happen any more. It reports whether one has happened.
func (p *Proxy) Disarm() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.number = 0
	select {
	case <-p.struck:
		return true
	default:
		return false
	}
}

// Changes returns the writes since the last call of Inject that the API server has stored.
func (p *Proxy) Changes() (changes []Write) {
	for _, write := range p.Writes() {
		if write.Code > 0 && write.Code < http.StatusMultipleChoices && !write.Unchanged {
			changes = append(changes, write)
		}
	}
	return changes
}

// Release lets a held write continue.
func (p *Proxy) Release() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	close(p.released)
}

// Writes returns the writes since the last call of Inject.
func (p *Proxy) Writes() []Write {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return append([]Write(nil), p.writes...)
}

// Lists returns the lists with which the caches of the next program begin: the state before the write at which the
// fault happened.
func (p *Proxy) Lists() Lists {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.read
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.isDead() {
		panic(http.ErrAbortHandler)
	}
	switch {
	case isWrite(r, p.uncounted):
		p.write(w, r)
	case r.URL.Query().Has("watch"):
		p.watch(w, r)
	case fillsCache(r):
		p.list(w, r)
	default:
		p.forwarded.ServeHTTP(w, r)
	}
}

func (p *Proxy) isDead() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.dead
}

// watch forwards a watch. After the list of an earlier program, it waits first.
func (p *Proxy) watch(w http.ResponseWriter, r *http.Request) {
	if len(p.earlier) > 0 {
		wait, stop := context.WithTimeout(r.Context(), Lag)
		<-wait.Done()
		stop()
	}
	p.forwarded.ServeHTTP(w, r)
}
