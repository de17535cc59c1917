package ocm

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/retry"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/testenv"
)

const (
	agentNamespace           = "open-cluster-management-agent"
	registrationAgentAccount = "klusterlet-registration-sa"
	workAgentAccount         = "klusterlet-work-sa"
)

// JoinOptions configure how a managed cluster joins. The zero value works.
type JoinOptions struct {
	// Options are the options of its API server.
	testenv.Options
	// Logs is a folder for the output of the components. Default: logs in Dir.
	Logs string
	// WorkAgent starts the agent that applies ManifestWorks, and
	// kube-controller-manager, without which it has no rights.
	WorkAgent bool
	// Hosting is the cluster on which the agents run: the klusterlet is in hosted mode. Default: the managed cluster
	// itself. Outside of a pod, agents do not know their namespace. So these agents and the
	// agents of the hosting cluster share a namespace and its rights. Only the name of the hub's kubeconfig differs.
	Hosting *ManagedCluster
	// LeaseDurationSeconds is how often the cluster renews its lease on the hub. The
	// hub waits for five times as long before the cluster is lost. Default: OCM's, 60.
	LeaseDurationSeconds int32
	// AddOnLeaseInterval is how often the agent reads the leases of add-ons.
	// Default: OCM's, 30 s.
	AddOnLeaseInterval time.Duration
	// AddOnLeaseDurationSeconds is a fifth of the time for which the lease of an add-on is valid. Default: OCM's, 60.
	AddOnLeaseDurationSeconds int
	// RegistrationFlags and WorkFlags are further flags of the two agents.
	RegistrationFlags, WorkFlags []string
}

// ManagedCluster is a cluster with OCM's agents.
type ManagedCluster struct {
	*testenv.Cluster
	// Client is a client of the administrator.
	Client client.WithWatch
	Name   string

	RegistrationAgent *Component
	// WorkAgent and ControllerManager are nil without JoinOptions.WorkAgent.
	WorkAgent         *Component
	ControllerManager *Component

	assets  assets
	files   files
	hosting *ManagedCluster
}

// Join starts a managed cluster, lets it register with the hub, accepts it like `clusteradm accept`, and returns once
// the hub reports it as available.
func (h *Hub) Join(ctx context.Context, name string, options JoinOptions) (*ManagedCluster, error) {
	options.Name = name
	m := &ManagedCluster{Name: name, assets: h.assets, hosting: options.Hosting}
	var err error
	if m.files, err = newFiles(options.Options, options.Logs); err != nil {
		return nil, err
	}
	h.mutex.Lock()
	h.managed = append(h.managed, m)
	h.mutex.Unlock()
	options.Dir = m.files.dir
	if err := m.join(ctx, h, options); err != nil {
		return nil, fmt.Errorf("join managed cluster %s: %w", name, err)
	}
	return m, nil
}

func (m *ManagedCluster) join(ctx context.Context, h *Hub, options JoinOptions) error {
	var err error
	if m.Cluster, err = testenv.StartManaged(ctx, options.Options); err != nil {
		return err
	}
	if m.Client, err = newClient(m.Cluster); err != nil {
		return err
	}
	if err := m.install(ctx); err != nil {
		return err
	}
	if err := m.startRegistration(ctx, h, options); err != nil {
		return err
	}
	if err := h.accept(ctx, m, options.LeaseDurationSeconds); err != nil {
		return err
	}
	if options.WorkAgent {
		return m.startWork(ctx, options)
	}
	return nil
}

// install creates the objects that OCM's operator creates on a managed cluster.
func (m *ManagedCluster) install(ctx context.Context) error {
	crds, err := render(m.assets.program("manifests"), values(nil), "klusterlet/managed/*crd.yaml")
	if err != nil {
		return err
	}
	patterns := []string{
		"klusterlet/managed/*serviceaccount.yaml", "klusterlet/managed/*role.yaml", "klusterlet/managed/*role-*.yaml",
		"klusterlet/managed/*rolebinding*.yaml",
	}
	if m.hosting == nil {
		patterns = append(patterns, "klusterlet/management/*role.yaml", "klusterlet/management/*role-*.yaml",
			"klusterlet/management/*rolebinding*.yaml")
	}
	rights, err := render(m.assets.program("manifests"), values(nil), patterns...)
	if err != nil {
		return err
	}
	if err := createAll(ctx, m.Client, append(namespaces(agentNamespace, AddOnNamespace), crds...)); err != nil {
		return err
	}
	return createAll(ctx, m.Client, append(rights, workAggregate()))
}

func (m *ManagedCluster) startRegistration(ctx context.Context, h *Hub, options JoinOptions) error {
	bootstrap, err := serviceAccountKubeconfig(ctx, h.Cluster, m.files.dir, operatorNamespace, bootstrapAccount)
	if err != nil {
		return err
	}
	kubeconfig, flags, err := m.logins(ctx, registrationAgentAccount)
	if err != nil {
		return err
	}
	args := append([]string{"agent", "--spoke-cluster-name", m.Name, "--bootstrap-kubeconfig", bootstrap, "--hub-kubeconfig-dir", m.hubFolder()}, flags...)
	if options.AddOnLeaseInterval != 0 {
		args = append(args, "--addon-lease-sync-interval", options.AddOnLeaseInterval.String())
	}
	if options.AddOnLeaseDurationSeconds != 0 {
		args = append(args, "--addon-lease-duration-seconds", strconv.Itoa(options.AddOnLeaseDurationSeconds))
	}
	if m.hosting != nil {
		args = append(args, "--hub-kubeconfig-secret", m.Name+"-hub-kubeconfig")
	}
	m.RegistrationAgent = controller(m.files, "registration-agent", m.assets.program("registration"), kubeconfig, agentNamespace,
		append(args, options.RegistrationFlags...)...)
	return m.RegistrationAgent.Start(ctx)
}

// hubFolder returns the folder in which the registration agent stores the kubeconfig of the hub.
func (m *ManagedCluster) hubFolder() string { return filepath.Join(m.files.dir, "hub-kubeconfig") }

// HubKubeconfig returns the path of the agent's own kubeconfig of the hub.
func (m *ManagedCluster) HubKubeconfig() string { return filepath.Join(m.hubFolder(), "kubeconfig") }

func (m *ManagedCluster) startWork(ctx context.Context, options JoinOptions) error {
	var err error
	if m.ControllerManager, err = startControllerManager(ctx, m.Cluster, m.assets, m.files); err != nil {
		return err
	}
	kubeconfig, flags, err := m.logins(ctx, workAgentAccount)
	if err != nil {
		return err
	}
	args := append([]string{
		"agent", "--spoke-cluster-name", m.Name, "--workload-source-driver", "kube", "--workload-source-config", m.HubKubeconfig(),
		"--agent-id", m.Name, "--terminate-on-files", m.HubKubeconfig(),
	}, flags...)
	m.WorkAgent = controller(m.files, "work-agent", m.assets.program("work"), kubeconfig, agentNamespace, append(args, options.WorkFlags...)...)
	return m.WorkAgent.Start(ctx)
}

// Components returns all processes of the cluster except its API server.
func (m *ManagedCluster) Components() []*Component {
	return present(m.RegistrationAgent, m.WorkAgent, m.ControllerManager)
}

// Stop stops the cluster for good.
func (m *ManagedCluster) Stop() error {
	cluster := m.Cluster
	m.Cluster = nil
	return stop(cluster, m.Components(), m.files)
}

// accept approves the cluster's request for a certificate and accepts the cluster.
func (h *Hub) accept(ctx context.Context, m *ManagedCluster, leaseDurationSeconds int32) error {
	admin, err := kubernetes.NewForConfig(h.Config)
	if err != nil {
		return err
	}
	steps := []struct {
		name  string
		check func(context.Context) (bool, error)
	}{
		{"it has registered", func(ctx context.Context) (bool, error) { return h.acceptCluster(ctx, m.Name, leaseDurationSeconds) }},
		{"it has requested a certificate", func(ctx context.Context) (bool, error) { return approve(ctx, admin, m.Name) }},
		{"it is available", func(ctx context.Context) (bool, error) { return h.available(ctx, m.Name) }},
	}
	for _, step := range steps {
		var last error
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
			var ok bool
			ok, last = step.check(ctx)
			return ok && last == nil, nil
		})
		if err != nil {
			return fmt.Errorf("wait until %s: %w%s", step.name, errors.Join(err, last), m.RegistrationAgent.lastOutput())
		}
	}
	return nil
}

func (h *Hub) acceptCluster(ctx context.Context, name string, leaseDurationSeconds int32) (bool, error) {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cluster := &clusterv1.ManagedCluster{}
		if err := h.Client.Get(ctx, client.ObjectKey{Name: name}, cluster); err != nil {
			return err
		}
		cluster.Spec.HubAcceptsClient = true
		if leaseDurationSeconds != 0 {
			cluster.Spec.LeaseDurationSeconds = leaseDurationSeconds
		}
		return h.Client.Update(ctx, cluster)
	})
	return err == nil, err
}

// approve approves the requests of a joining cluster.
func approve(ctx context.Context, admin kubernetes.Interface, name string) (bool, error) {
	requests := admin.CertificatesV1().CertificateSigningRequests()
	list, err := requests.List(ctx, metav1.ListOptions{LabelSelector: clusterv1.ClusterNameLabelKey + "=" + name})
	if err != nil {
		return false, err
	}
	for i := range list.Items {
		request := &list.Items[i]
		request.Status.Conditions = append(request.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "AcceptedByTest",
		})
		if _, err := requests.UpdateApproval(ctx, request.Name, request, metav1.UpdateOptions{}); err != nil {
			return false, err
		}
	}
	return len(list.Items) > 0, nil
}

func (h *Hub) available(ctx context.Context, name string) (bool, error) {
	cluster := &clusterv1.ManagedCluster{}
	if err := h.Client.Get(ctx, client.ObjectKey{Name: name}, cluster); err != nil {
		return false, err
	}
	return meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1.ManagedClusterConditionAvailable), nil
}
