// Package simulator plays a fleet against Interlock: a real hub API server with the objects of many managed clusters
// and add-ons, the real addon-manager, and the real agent's code many times over in this process. It can change the
// fleet, watch the consequences, and count requests at the API server.
package simulator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv"
)

// measuredGroup is the group of all users whose requests are counted. They are subject to the API server's priority
// and fairness, unlike administrators.
const measuredGroup = "interlock:measured"

// auditMegabytes is more than is ever logged. A rotated log would not be counted completely.
const auditMegabytes = "100000"

// cachedWithin is how long the API server may take to read all add-ons.
const cachedWithin = 5 * time.Minute

// auditPolicy logs every finished request of a measured user.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  userGroups: ["` + measuredGroup + `"]
- level: None
`

// Hub is an API server with OCM's CRDs that counts the requests of each user.
type Hub struct {
	// Client is an administrator's client. Its requests are not counted.
	Client client.WithWatch
	// Requests counts the requests of measured users.
	Requests *Requests

	cluster *testenv.Cluster
	scheme  *runtime.Scheme
	dir     string
}

// StartHub starts a hub that keeps its logs in a folder, which must exist.
func StartHub(ctx context.Context, dir, name string) (*Hub, error) {
	policy, audit := filepath.Join(dir, name+"-audit-policy.yaml"), filepath.Join(dir, name+"-audit.log")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return nil, fmt.Errorf("start hub: %w", err)
	}
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	cluster, err := testenv.StartHub(ctx, testenv.Options{Name: name, Flags: map[string][]string{
		"audit-policy-file": {policy}, "audit-log-path": {audit}, "audit-log-maxsize": {auditMegabytes},
	}})
	if err != nil {
		return nil, err
	}
	hub := &Hub{cluster: cluster, scheme: scheme, dir: dir, Requests: &Requests{path: audit}}
	if err := hub.prepare(ctx); err != nil {
		return nil, errors.Join(err, hub.Stop())
	}
	return hub, nil
}

// NewScheme returns a scheme with all types that are used here.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.Install, addonv1alpha1.AddToScheme, dependencyv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register types: %w", err)
		}
	}
	return scheme, nil
}

func (h *Hub) prepare(ctx context.Context) error {
	var err error
	if h.Client, err = client.NewWithWatch(unthrottled(h.cluster.Config), client.Options{Scheme: h.scheme}); err != nil {
		return fmt.Errorf("make a client of the hub: %w", err)
	}
	err = h.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "interlock-measured"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: measuredGroup}},
	})
	if err != nil {
		return fmt.Errorf("give measured users their rights: %w", err)
	}
	return nil
}

// User creates a measured user. It may do everything, because permissions are not tested here. Priority and fairness
// limit it like a workload.
func (h *Hub) User(name string) (*testenv.User, error) {
	return h.cluster.AddUser(name, measuredGroup, "system:serviceaccounts")
}

// Interrupt restarts the API server: every watch on it ends.
func (h *Hub) Interrupt() error { return h.cluster.Restart() }

// AwaitCache waits until the API server has read all add-ons and serves watches of them. After a restart it refuses
// watches until then. A client that tries ten times gives up before a large fleet has been read.
func (h *Hub) AwaitCache(ctx context.Context) error {
	err := wait.PollUntilContextTimeout(ctx, time.Second, cachedWithin, true, func(ctx context.Context) (bool, error) {
		events, err := h.Client.Watch(ctx, &addonv1alpha1.ManagedClusterAddOnList{})
		if apierrors.IsTooManyRequests(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		events.Stop()
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("wait until the API server answers watches of add-ons: %w", err)
	}
	return nil
}

// CollectGarbage makes the API server collect its garbage, and waits until it has.
func (h *Hub) CollectGarbage(ctx context.Context) error {
	client, err := discovery.NewDiscoveryClientForConfig(h.cluster.Config)
	if err != nil {
		return fmt.Errorf("make a client of the hub: %w", err)
	}
	// The rest of the profile does not matter.
	if err := client.RESTClient().Get().AbsPath("/debug/pprof/heap").Param("gc", "1").Do(ctx).Error(); err != nil {
		return fmt.Errorf("have the API server collect its garbage: %w", err)
	}
	return nil
}

// Stop stops the API server and removes its data.
func (h *Hub) Stop() error { return h.cluster.Stop() }

// unthrottled leaves the rate limits to the API server.
func unthrottled(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS = -1
	return config
}
