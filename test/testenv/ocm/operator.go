package ocm

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"open-cluster-management.io/interlock/test/testenv"
)

const (
	clusterManager   = "cluster-manager"
	operatorAccount  = "cluster-manager"
	webhookService   = "cluster-manager-addon-webhook"
	webhookSecret    = "addon-webhook-serving-cert"
	versionVariables = "open-cluster-management.io/ocm/pkg/version"
	pollInterval     = 50 * time.Millisecond
)

var clusterManagerKind = schema.GroupVersionKind{Group: "operator.open-cluster-management.io", Version: "v1", Kind: "ClusterManager"}

// installByOperator starts OCM's operator, which installs CRDs, rights, Services and certificates as on any hub. No
// kubelet runs the Deployments that it creates. So the operator takes the hub for one that is being rolled out: it
// applies everything again every 5 seconds, and installs no admission webhooks.
func (h *Hub) installByOperator(ctx context.Context) error {
	chart := h.assets.program("chart")
	account, err := renderChart(chart, append([]string{"service_account.yaml", "cluster_role.yaml", "cluster_role_binding.yaml"},
		bootstrapTemplates...)...)
	if err != nil {
		return err
	}
	if err := h.createAll(ctx, append(namespaces(operatorNamespace), account...)); err != nil {
		return err
	}
	if err := h.ServeClusterManagers(); err != nil {
		return err
	}
	if err := h.startOperator(ctx, h.assets.program("registration-operator")); err != nil {
		return err
	}
	if err := h.Client.Create(ctx, newClusterManager()); err != nil {
		return fmt.Errorf("create the ClusterManager: %w", err)
	}
	var starting errgroup.Group
	starting.Go(func() error { return h.startOperatedWebhooks(ctx) })
	starting.Go(func() error {
		var err error
		h.ControllerManager, err = startControllerManager(ctx, h.Cluster, h.assets, h.files)
		return err
	})
	if err := starting.Wait(); err != nil {
		return err
	}
	return h.Reconciled(ctx)
}

// ServeClusterManagers creates the CRDs of OCM's operator.
func (h *Hub) ServeClusterManagers() error {
	crds := filepath.Join(h.assets.program("chart"), "crds")
	if _, err := envtest.InstallCRDs(h.Config, envtest.CRDInstallOptions{Paths: []string{crds}}); err != nil {
		return fmt.Errorf("create the CRDs of OCM's operator: %w", err)
	}
	return nil
}

// newClusterManager returns the object that clusteradm init creates. The feature is also enabled in the other way to
// install a hub.
func newClusterManager() *unstructured.Unstructured {
	manager := &unstructured.Unstructured{}
	manager.SetGroupVersionKind(clusterManagerKind)
	manager.SetName(clusterManager)
	manager.Object["spec"] = map[string]any{
		"deployOption":      map[string]any{"mode": "Default"},
		"workConfiguration": map[string]any{"featureGates": []any{map[string]any{"feature": "ManifestWorkReplicaSet", "mode": "Enable"}}},
	}
	return manager
}

func (h *Hub) startOperator(ctx context.Context, path string) error {
	kubeconfig, err := serviceAccountKubeconfig(ctx, h.Cluster, h.files.dir, operatorNamespace, operatorAccount)
	if err != nil {
		return err
	}
	h.Operator = controller(h.files, "registration-operator-hub", path, kubeconfig, operatorNamespace, "hub")
	return h.Operator.Start(ctx)
}

// startOperatedWebhooks serves the webhooks at the address of their Service and with their certificate. So the CRDs
// reach them in the form that OCM's operator writes.
func (h *Hub) startOperatedWebhooks(ctx context.Context) error {
	dir := filepath.Join(h.files.dir, "webhooks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	service, secret := &corev1.Service{}, &corev1.Secret{}
	err := wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(ctx context.Context) (bool, error) {
		missing := h.Client.Get(ctx, client.ObjectKey{Namespace: hubNamespace, Name: webhookService}, service)
		if missing == nil {
			missing = h.Client.Get(ctx, client.ObjectKey{Namespace: hubNamespace, Name: webhookSecret}, secret)
		}
		return missing == nil, client.IgnoreNotFound(missing)
	})
	if err != nil {
		return fmt.Errorf("wait for the webhook's Service and Secret: %w%s", err, h.Operator.lastOutput())
	}
	for name, content := range secret.Data {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	port := strconv.Itoa(int(service.Spec.Ports[0].Port))
	return h.startWebhooks(ctx, net.JoinHostPort(service.Spec.ClusterIP, port))
}

// Reconciled makes OCM's operator apply everything once more, and waits until it has.
func (h *Hub) Reconciled(ctx context.Context) error {
	manager := newClusterManager()
	if err := h.Client.Get(ctx, client.ObjectKeyFromObject(manager), manager); err != nil {
		return err
	}
	// A change of the spec. The operator reports the generation that it has applied.
	selector := map[string]any{"nodeSelector": map[string]any{"reconciled": strconv.FormatInt(manager.GetGeneration(), 10)}}
	changed := manager.DeepCopy()
	changed.Object["spec"].(map[string]any)["nodePlacement"] = selector
	if err := h.Client.Patch(ctx, changed, client.MergeFrom(manager)); err != nil {
		return fmt.Errorf("change the ClusterManager: %w", err)
	}
	err := wait.PollUntilContextTimeout(ctx, pollInterval, patience, true, func(ctx context.Context) (bool, error) {
		if err := h.Client.Get(ctx, client.ObjectKeyFromObject(manager), manager); err != nil {
			return false, err
		}
		observed, _, _ := unstructured.NestedInt64(manager.Object, "status", "observedGeneration")
		return observed >= changed.GetGeneration(), nil
	})
	if err != nil {
		return fmt.Errorf("wait until OCM's operator has applied everything: %w%s", err, h.Operator.lastOutput())
	}
	return nil
}

// StampOperator links OCM's operator of test/ocm with another version, and returns its path. The operator compares
// only the version with that on a CRD.
func (h *Hub) StampOperator(ctx context.Context, stamp *version.Version) (string, error) {
	root, err := testenv.RepositoryRoot()
	if err != nil {
		return "", err
	}
	path := filepath.Join(h.files.dir, "ocm-"+stamp.String(), "registration-operator")
	command := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath",
		"-ldflags", "-s -w -X "+versionVariables+".versionFromGit=v"+stamp.String(), "-o", path, "./ocm")
	command.Dir = filepath.Join(root, "test", "ocm")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=") // the same as in `make ocm`, so that nothing is compiled twice
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("link OCM's operator as version %s: %w: %s", stamp, err, out)
	}
	return path, nil
}

// ReplaceOperator stops OCM's operator and starts another one, for an upgrade or a downgrade. Without a path, it
// starts the original operator of the hub.
func (h *Hub) ReplaceOperator(ctx context.Context, path string) error {
	if err := h.Operator.Stop(ctx); err != nil {
		return err
	}
	if path == "" {
		path = h.assets.program("registration-operator")
	}
	return h.startOperator(ctx, path)
}

// serviceRange returns cluster IPs on the loopback interface, where a process can listen on them. Every hub on the
// machine has its own range.
func serviceRange() string {
	pid := make([]byte, 8)
	binary.BigEndian.PutUint64(pid, uint64(os.Getpid()))
	return fmt.Sprintf("127.%d.%d.0/24", 64+pid[6]%128, pid[7])
}
