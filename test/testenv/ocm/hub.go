package ocm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/testenv"
)

const (
	loopback          = "127.0.0.1"
	hubNamespace      = "open-cluster-management-hub"
	operatorNamespace = "open-cluster-management"
	bootstrapAccount  = "agent-registration-bootstrap"
)

// HubOptions configure a hub. The zero value works.
type HubOptions struct {
	// Options are the options of its API server. Flags are added to those that OCM needs.
	testenv.Options
	// InterlockCRDs adds Interlock's fields to OCM's CRD of ClusterManagementAddOns and creates Interlock's own CRDs.
	// The conversion is OCM's: it drops the fields with each write through v1beta1. If declarations by field have to
	// last, use addon-manager --graft-crds instead.
	InterlockCRDs bool
	// MutatingAdmissionPolicy makes the API server serve and apply these policies.
	MutatingAdmissionPolicy bool
	// Operator makes OCM's operator install the hub, and keeps the operator running. It is for suites about the
	// operator: there are no admission webhooks.
	Operator bool
	// Logs is a folder for the output of the components. Default: logs in Dir.
	Logs string
	// RegistrationFlags are further flags of registration's controller.
	RegistrationFlags []string
}

// Hub is an OCM hub.
type Hub struct {
	*testenv.Cluster
	// Client is a client of the administrator, with OCM's types.
	Client client.WithWatch
	// AuditLog is a file with all writes as lines of JSON, for a witness. Writes to add-ons, registrations and
	// managed clusters include the request and the response.
	AuditLog string

	// ControllerManager signs certificates, collects garbage and empties namespaces.
	ControllerManager *Component
	// Webhooks converts add-ons, and admits managed clusters.
	Webhooks     *Component
	Registration *Component
	AddOnManager *Component
	Placement    *Component
	Work         *Component
	// Operator is nil without HubOptions.Operator.
	Operator *Component

	assets  assets
	files   files
	mutex   sync.Mutex
	managed []*ManagedCluster
}

// StartHub starts a hub and returns once its components are healthy.
func StartHub(ctx context.Context, options HubOptions) (*Hub, error) {
	programs, err := findAssets()
	if err != nil {
		return nil, err
	}
	if options.Name == "" {
		options.Name = "hub"
	}
	h := &Hub{assets: programs}
	if h.files, err = newFiles(options.Options, options.Logs); err != nil {
		return nil, err
	}
	if err := h.start(ctx, options); err != nil {
		return nil, errors.Join(fmt.Errorf("start OCM's hub %s: %w", options.Name, err), h.Stop())
	}
	return h, nil
}

func (h *Hub) start(ctx context.Context, options HubOptions) error {
	options.Dir = h.files.dir
	flags, err := h.apiServerFlags(options)
	if err != nil {
		return err
	}
	options.Flags = flags
	if h.Cluster, err = testenv.StartManaged(ctx, options.Options); err != nil {
		return err
	}
	if h.Client, err = newClient(h.Cluster); err != nil {
		return err
	}
	if err := h.install(ctx, options); err != nil {
		return err
	}
	return h.startControllers(ctx, options)
}

func (h *Hub) startControllers(ctx context.Context, options HubOptions) error {
	for _, c := range []struct {
		target  **Component
		program string
		account string
		args    []string
	}{
		{&h.Registration, "registration", "registration-controller-sa", append([]string{"controller"}, options.RegistrationFlags...)},
		{&h.AddOnManager, "addon", "addon-manager-controller-sa", []string{"manager"}},
		{&h.Placement, "placement", "placement-controller-sa", []string{"controller"}},
		{&h.Work, "work", "work-controller-sa", []string{"manager"}},
	} {
		kubeconfig, err := serviceAccountKubeconfig(ctx, h.Cluster, h.files.dir, hubNamespace, c.account)
		if err != nil {
			return err
		}
		*c.target = controller(h.files, c.program+"-"+c.args[0], h.assets.program(c.program), kubeconfig, hubNamespace, c.args...)
	}
	return startAll(ctx, h.Registration, h.AddOnManager, h.Placement, h.Work)
}

// controller returns one of OCM's controllers. All of them have these flags.
func controller(files files, name, path, kubeconfig, namespace string, args ...string) *Component {
	return &Component{
		name: name, path: path, dir: files.dir, log: files.log(name), health: "/healthz",
		args: func(address string) []string {
			return append(args, "--kubeconfig", kubeconfig, "--namespace", namespace, "--listen", address, "--disable-leader-election")
		},
	}
}

// Components returns all processes of the hub except its API server.
func (h *Hub) Components() []*Component {
	return present(h.Operator, h.Registration, h.AddOnManager, h.Placement, h.Work, h.Webhooks, h.ControllerManager)
}

// Stop stops the joined managed clusters, and the hub. Their temporary folders are removed.
func (h *Hub) Stop() error {
	h.mutex.Lock()
	managed := h.managed
	h.managed = nil
	h.mutex.Unlock()

	failures := make([]error, len(managed))
	var stopping sync.WaitGroup
	for i, cluster := range managed {
		stopping.Go(func() { failures[i] = cluster.Stop() })
	}
	stopping.Wait()
	return errors.Join(append(failures, stop(h.Cluster, h.Components(), h.files))...)
}

// newClient returns a client with all types of OCM's objects.
func newClient(cluster *testenv.Cluster) (client.WithWatch, error) {
	return cluster.Client(clusterv1.Install, clusterv1beta1.Install, clusterv1beta2.Install, workv1.Install,
		addonv1alpha1.Install, addonv1beta1.Install)
}

func startAll(ctx context.Context, components ...*Component) error {
	var group errgroup.Group
	for _, component := range components {
		group.Go(func() error { return component.Start(ctx) })
	}
	return group.Wait()
}

// stop ends the components at the same time, then the API server.
func stop(cluster *testenv.Cluster, components []*Component, files files) error {
	failures := make([]error, len(components))
	var stopping sync.WaitGroup
	for i, component := range components {
		stopping.Go(func() { failures[i] = component.Kill() })
	}
	stopping.Wait()
	if cluster != nil {
		failures = append(failures, cluster.Stop())
	}
	if files.remove {
		failures = append(failures, os.RemoveAll(files.dir))
	}
	return errors.Join(failures...)
}

func present(components ...*Component) []*Component {
	var started []*Component
	for _, component := range components {
		if component != nil {
			started = append(started, component)
		}
	}
	return started
}

// files has the folders of a cluster's files, and whether to remove them in the end.
type files struct {
	name, dir, logs string
	remove          bool
}

func newFiles(options testenv.Options, logs string) (files, error) {
	var err error
	f := files{name: options.Name, dir: options.Dir, logs: logs}
	if f.dir == "" {
		f.dir, err = os.MkdirTemp("", "interlock-"+options.Name+"-")
		f.remove = true
	}
	if f.logs == "" {
		f.logs = filepath.Join(f.dir, "logs")
	}
	return f, errors.Join(err, os.MkdirAll(f.dir, 0o700), os.MkdirAll(f.logs, 0o700))
}

func (f files) log(component string) string {
	return filepath.Join(f.logs, f.name+"-"+component+".log")
}
