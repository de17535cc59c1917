package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// patience is how long an API server may take to start or stop. Several may be starting on a machine with two cores.
const patience = 90 * time.Second

const lastLines = 5

// Cluster is an API server with its etcd.
type Cluster struct {
	// Config is the administrator's configuration, with a high client-side rate limit.
	Config *rest.Config

	name      string
	dir       string
	temporary bool
	log       *os.File
	trusted   []byte
	env       *envtest.Environment
}

// User is a user of the API server. RBAC decides on its rights.
type User struct {
	Config *rest.Config
	// Kubeconfig is the path of a file with the same content.
	Kubeconfig string
}

func (c *Cluster) start(assets string, options Options, crds []*apiextensionsv1.CustomResourceDefinition) error {
	apiServer, err := c.apiServer(assets, options)
	if err != nil {
		return err
	}
	etcdDir, err := c.folder("etcd")
	if err != nil {
		return err
	}
	c.env = &envtest.Environment{
		ControlPlane: envtest.ControlPlane{
			APIServer: apiServer,
			Etcd:      &envtest.Etcd{Path: filepath.Join(assets, "etcd"), DataDir: etcdDir},
		},
		CRDs:                     crds,
		ControlPlaneStartTimeout: patience,
		ControlPlaneStopTimeout:  patience,
	}
	config, err := c.env.Start()
	if err != nil {
		return err
	}
	c.Config = config
	return writeKubeconfig(c.Kubeconfig(), c.env.KubeConfig)
}

func (c *Cluster) apiServer(assets string, options Options) (*envtest.APIServer, error) {
	certificates, err := c.folder("apiserver")
	if err != nil {
		return nil, err
	}
	output := options.Log
	if output == nil {
		if c.log, err = os.Create(filepath.Join(c.dir, "apiserver.log")); err != nil {
			return nil, err
		}
		output = c.log
	}
	apiServer := &envtest.APIServer{
		Path:    filepath.Join(assets, "kube-apiserver"),
		CertDir: certificates,
		Out:     output,
		Err:     output,
	}
	apiServer.Configure().
		// Without these two flags, the API server looks for the address of another interface, and does not start on a
		// machine without a network.
		Set("advertise-address", "127.0.0.1").
		Set("endpoint-reconciler-type", "none").
		// Without it, a stop waits a minute for clients that watch.
		Set("shutdown-watch-termination-grace-period", "1s")
	for flag, values := range options.Flags {
		apiServer.Configure().Set(flag, values...)
	}
	return apiServer, nil
}

// folder makes a folder that survives a restart. envtest removes its own folders with every stop.
func (c *Cluster) folder(name string) (string, error) {
	dir := filepath.Join(c.dir, name)
	return dir, os.MkdirAll(dir, 0o700)
}

// Kubeconfig returns the path of the administrator's kubeconfig.
func (c *Cluster) Kubeconfig() string {
	return c.kubeconfigOf("admin")
}

// Client returns a client of an administrator, without a rate limit. Its scheme has Kubernetes' types and the added
// types.
func (c *Cluster) Client(add ...func(*runtime.Scheme) error) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	for _, types := range append(add, clientgoscheme.AddToScheme) {
		if err := types(scheme); err != nil {
			return nil, err
		}
	}
	config := rest.CopyConfig(readable(c.Config))
	config.QPS = -1
	return client.NewWithWatch(config, client.Options{Scheme: scheme})
}

// EtcdURL returns the URL of its etcd.
func (c *Cluster) EtcdURL() string { return c.env.ControlPlane.Etcd.URL.String() }

// AddUser adds a user with a client certificate. The user survives restarts.
func (c *Cluster) AddUser(name string, groups ...string) (*User, error) {
	user, err := c.env.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return nil, fmt.Errorf("add user %s to %s: %w", name, c.name, err)
	}
	content, err := user.KubeConfig()
	if err != nil {
		return nil, fmt.Errorf("make a kubeconfig for user %s of %s: %w", name, c.name, err)
	}
	path := c.kubeconfigOf(name)
	return &User{Config: user.Config(), Kubeconfig: path}, writeKubeconfig(path, content)
}

// TrustClients makes the API server accept the client certificates of another CA, in PEM. The API server needs a
// moment for that, also after a restart.
func (c *Cluster) TrustClients(ca []byte) error {
	c.trusted = append(c.trusted, ca...)
	return c.trust(ca)
}

func (c *Cluster) trust(ca []byte) error {
	file, err := os.OpenFile(filepath.Join(c.dir, "apiserver", "client-cert-auth-ca.crt"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = file.Write(ca)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fmt.Errorf("trust another CA on %s: %w", c.name, err)
	}
	return nil
}

// StopAPIServer stops the API server and keeps its data, like an outage.
func (c *Cluster) StopAPIServer() error {
	if err := c.env.ControlPlane.APIServer.Stop(); err != nil {
		return fmt.Errorf("stop the API server of %s: %w", c.name, err)
	}
	return nil
}

// StartAPIServer ends an outage. Address, data and users stay the same. It tries again if the API server ends at once: meanwhile, a
// connection of another process may have been given its port.
func (c *Cluster) StartAPIServer() error {
	var failure error
	err := wait.PollUntilContextTimeout(context.Background(), time.Second, patience, true, func(context.Context) (bool, error) {
		failure = c.env.ControlPlane.APIServer.Start()
		return failure == nil, nil
	})
	if err != nil {
		return fmt.Errorf("start the API server of %s again: %w", c.name, failure)
	}
	return c.trust(c.trusted) // each start writes the file anew
}

// Restart is a short outage.
func (c *Cluster) Restart() error {
	if err := c.StopAPIServer(); err != nil {
		return err
	}
	return c.StartAPIServer()
}

// RestartWith restarts the API server with other flags, like an upgrade. A flag without values gets its default.
func (c *Cluster) RestartWith(flags map[string][]string) error {
	if err := c.StopAPIServer(); err != nil {
		return err
	}
	for flag, values := range flags {
		if len(values) == 0 {
			c.env.ControlPlane.APIServer.Configure().Disable(flag)
		} else {
			c.env.ControlPlane.APIServer.Configure().Set(flag, values...)
		}
	}
	return c.StartAPIServer()
}

// Stop stops the cluster, and removes its temporary folder.
func (c *Cluster) Stop() error {
	var failures []error
	if c.env != nil {
		failures = append(failures, c.env.Stop())
	}
	if c.log != nil {
		failures = append(failures, c.log.Close())
	}
	if c.temporary {
		failures = append(failures, os.RemoveAll(c.dir))
	}
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("stop %s: %w", c.name, err)
	}
	return nil
}

// lastWords returns the end of the API server's own log, for the error of a failed start. envtest reports the failure
// without its cause.
func (c *Cluster) lastWords() string {
	if c.log == nil {
		return ""
	}
	content, err := os.ReadFile(c.log.Name())
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	if err != nil || lines[0] == "" {
		return ""
	}
	return "; the API server said:\n" + strings.Join(lines[max(0, len(lines)-lastLines):], "\n")
}

// kubeconfigOf keeps path separators and colons of user names out of file names.
func (c *Cluster) kubeconfigOf(user string) string {
	return filepath.Join(c.dir, fmt.Sprintf("%s-%s.kubeconfig", c.name, sanitize(user)))
}

func writeKubeconfig(path string, content []byte) error {
	return os.WriteFile(path, content, 0o600)
}
