package consoleserver

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"open-cluster-management.io/interlock/pkg/kube/httpserver"
)

const (
	// maxConnections allows each of the largest number of viewers some connections besides its stream.
	maxConnections = 1024
	// maxStreams is the number of requests on a connection: those of many tabs of a browser.
	maxStreams = 100
	// maxHeader is larger than the token of a user in many groups.
	maxHeader = 64 << 10
	// writeTimeout is the time for a response. A stream extends it with each part.
	writeTimeout = time.Minute
	// stopTimeout is the time for open requests when the process stops. Streams end at once.
	stopTimeout = 5 * time.Second
)

// addServer adds the server of the page to a manager.
func addServer(mgr ctrl.Manager, handler http.Handler, options Options) error {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if options.CertificateDir == "" {
		config.GetCertificate = (&selfSigned{hosts: options.Hosts, clock: clock.RealClock{}}).certificate
	} else {
		files, err := certwatcher.New(filepath.Join(options.CertificateDir, "tls.crt"), filepath.Join(options.CertificateDir, "tls.key"))
		if err != nil {
			return fmt.Errorf("read the certificate: %w", err)
		}
		if err := mgr.Add(files); err != nil {
			return fmt.Errorf("add the certificate: %w", err)
		}
		config.GetCertificate = files.GetCertificate
	}
	options.TLS.Apply(config)
	// A browser opens six connections with HTTP/1.1, and each of its tabs has a stream. The handler bounds streams and work, so a connection may
	// carry several.
	config.NextProtos = []string{"h2", "http/1.1"}
	listener, err := net.Listen("tcp", options.Address)
	if err != nil {
		return fmt.Errorf("serve the console: %w", err)
	}
	server := httpserver.New(handler, mgr.GetLogger().WithName("console"), maxConnections)
	server.MaxHeaderBytes, server.WriteTimeout, server.TLSConfig = maxHeader, writeTimeout, config
	server.Protocols.SetHTTP2(true)
	server.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: maxStreams}
	if err := mgr.Add(&pageServer{manager.Server{
		Name: "console", Server: server, Listener: tls.NewListener(listener, config), ShutdownTimeout: ptr.To(stopTimeout),
	}}); err != nil {
		return fmt.Errorf("serve the console: %w", err)
	}
	return nil
}

// pageServer is a server whose streams end when the process is to stop.
type pageServer struct{ manager.Server }

// Start implements manager.Runnable.
func (s *pageServer) Start(ctx context.Context) error {
	s.Server.Server.BaseContext = func(net.Listener) context.Context { return ctx }
	return s.Server.Start(ctx)
}
