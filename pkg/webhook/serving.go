package webhook

import (
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"open-cluster-management.io/interlock/pkg/compat/conversion"
	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/pkg/tlsconfig"
	"open-cluster-management.io/interlock/pkg/webhook/admission"
	"open-cluster-management.io/interlock/pkg/webhook/limits"
)

// reviewed limits an AdmissionReview. It has two objects of at most 3 MiB each, as
// controller-runtime reckons.
var reviewed = limits.Of{Bytes: 7 << 20, Values: 100_000}

// serve starts the server. It is not controller-runtime's, which bounds neither
// bodies in flight nor connections nor the time of a request.
func serve(mgr *draining, address string, certificate func(*tls.ClientHelloInfo) (*tls.Certificate, error)) error {
	config := &tls.Config{GetCertificate: certificate}
	tlsconfig.Restrict(config)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	server := limits.NewServer(handlers(mgr).WebhookMux(), mgr.GetLogger().WithName("webhook"))
	if err := mgr.Add(&manager.Server{
		Name: "webhook", Server: server, Listener: tls.NewListener(listener, config), ShutdownTimeout: ptr.To(10 * time.Second),
	}); err != nil {
		return fmt.Errorf("serve webhooks: %w", err)
	}
	return nil
}

// handlers are registered with a server of controller-runtime, which counts their
// requests. It is never started.
func handlers(mgr *draining) ctrlwebhook.Server {
	limit := limits.New(limits.Memory())
	webhooks := ctrlwebhook.NewServer(ctrlwebhook.Options{})
	webhooks.Register(conversion.Path,
		mgr.closing(limit.Handler(limits.Of{Response: conversion.MaxResponse}, conversion.NewHandler(mgr.GetLogger().WithName("conversion")))))
	webhooks.Register(guard.Path, mgr.closing(limit.Handler(reviewed, guard.NewWebhook())))
	webhooks.Register(admission.Path,
		mgr.closing(limit.Handler(reviewed, &ctrlwebhook.Admission{Handler: admission.NewValidator(mgr.GetAPIReader(), mgr.GetCache())})))
	webhooks.Register(admission.RecordPath, mgr.closing(limit.Handler(reviewed, &ctrlwebhook.Admission{
		Handler: &admission.Recorder{Reader: mgr.GetAPIReader(), Clock: clock.RealClock{}},
	})))
	return webhooks
}
