package source

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

// Applier is a client for objects of all kinds that the hub serves.
type Applier struct {
	client.WithWatch
	// Host is the address of the hub.
	Host string
}

// ConnectToApply returns a client that discovers the kinds of the hub.
func (s *Source) ConnectToApply() (*Applier, error) {
	if s.IsFile() {
		return nil, cmdline.UsageError(errors.New("--from: this verb needs a hub, and not a file"))
	}
	config, err := s.Config.ToRESTConfig()
	if err != nil {
		return nil, s.configError(err)
	}
	config.QPS, config.Burst = qps, burst
	if config.Timeout == 0 {
		config.Timeout = timeout
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(addToScheme(scheme), clientgoscheme.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	hub, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, cmdline.HubError(fmt.Errorf("reach the hub: %w", err))
	}
	return &Applier{hub, config.Host}, nil
}

// ShowProgress shows a line about work that takes long, on a terminal only.
func (s *Source) ShowProgress(line string) { s.messages().ShowProgress(line) }
