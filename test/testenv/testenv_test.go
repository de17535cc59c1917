package testenv

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const addOnGroup = "addon.open-cluster-management.io/v1beta1"

func TestFleet(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	fleet, err := StartFleet(ctx, Options{Name: "hub"}, Options{Name: "cluster1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := fleet.Stop(); err != nil {
			t.Error(err)
		}
	})
	hub, managed := fleet.Hub, fleet.Managed[0]

	if _, err := clientOf(t, hub.Config).Discovery().ServerResourcesForGroupVersion(addOnGroup); err != nil {
		t.Errorf("hub does not serve %s: %v", addOnGroup, err)
	}
	if _, err := clientOf(t, managed.Config).Discovery().ServerResourcesForGroupVersion(addOnGroup); !apierrors.IsNotFound(err) {
		t.Errorf("managed cluster is expected not to serve %s, got error %v", addOnGroup, err)
	}
	for _, cluster := range []*Cluster{hub, managed} {
		if !strings.HasPrefix(cluster.Config.Host, "https://127.0.0.1:") {
			t.Errorf("%s listens on %s, want the loopback interface", cluster.name, cluster.Config.Host)
		}
	}
	t.Run("a restart keeps address, data and users", func(t *testing.T) { testRestart(ctx, t, managed) })
}

func testRestart(ctx context.Context, t *testing.T, cluster *Cluster) {
	user, err := cluster.AddUser("system:reader", "readers")
	if err != nil {
		t.Fatal(err)
	}
	fromFile, err := clientcmd.BuildConfigFromFlags("", user.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}
	if _, err := clientOf(t, cluster.Config).CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	watch, err := clientOf(t, cluster.Config).CoreV1().Namespaces().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop() // open across the stop, as an agent's watch would be

	if err := cluster.StopAPIServer(); err != nil {
		t.Fatal(err)
	}
	if _, err := clientOf(t, cluster.Config).Discovery().ServerVersion(); err == nil {
		t.Error("API server responds although it was stopped")
	}
	// Another process has the port for a while.
	address := strings.Trim(strings.TrimPrefix(cluster.Config.Host, "https:"), "/")
	other, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(2*time.Second, func() { _ = other.Close() })
	if err := cluster.StartAPIServer(); err != nil {
		t.Fatal(err)
	}
	admin, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := clientOf(t, admin).CoreV1().Namespaces().Get(ctx, "kept", metav1.GetOptions{}); err != nil {
		t.Errorf("after the restart: %v", err)
	}
	_, err = clientOf(t, fromFile).CoreV1().Namespaces().Get(ctx, "kept", metav1.GetOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"system:reader"`) {
		t.Errorf("user is expected to be known and to have no rights, got error %v", err)
	}
}

func TestStartReportsItsFailure(t *testing.T) {
	dir := t.TempDir()
	_, err := StartManaged(t.Context(), Options{
		Name: "cluster1", Dir: dir, Flags: map[string][]string{"no-such-flag": {"x"}},
	})
	if err == nil || !strings.Contains(err.Error(), "unknown flag: --no-such-flag") {
		t.Errorf("error gives no reason: %v", err)
	}
}

func TestAssets(t *testing.T) {
	t.Run("a folder without them", func(t *testing.T) {
		t.Setenv(assetsVariable, t.TempDir())
		if _, err := Assets(); err == nil || !strings.Contains(err.Error(), "make control-plane") {
			t.Errorf("error names no remedy: %v", err)
		}
	})
	t.Run("outside of the repository", func(t *testing.T) {
		t.Setenv(assetsVariable, "")
		t.Chdir("/") // a temporary folder can be inside a checkout
		if _, err := Assets(); err == nil || !strings.Contains(err.Error(), assetsVariable) {
			t.Errorf("error names no remedy: %v", err)
		}
	})
	t.Run("another module inside of the repository", func(t *testing.T) {
		t.Setenv(assetsVariable, "")
		root := t.TempDir()
		inner := filepath.Join(root, "inner")
		if err := os.Mkdir(inner, 0o700); err != nil {
			t.Fatal(err)
		}
		for dir, content := range map[string]string{root: moduleLine, inner: "module example.io/other\n"} {
			if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Chdir(inner)
		if got, err := RepositoryRoot(); got != root {
			t.Errorf("got %q, %v, want %q", got, err, root)
		}
	})
	t.Run("the repository's own folder", func(t *testing.T) {
		t.Setenv(assetsVariable, "")
		root, err := RepositoryRoot()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(root, "test", "testenv", "assets.go")); err != nil {
			t.Errorf("%s is not the repository's root: %v", root, err)
		}
	})
}

func clientOf(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}
