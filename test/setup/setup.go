// Package setup has the common setup of suites on API servers. It fails the spec, or the suite, and cleans up after
// it.
package setup

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/testenv"
)

// builtVariable names a folder with the programs of cmd, built by `make build`.
const builtVariable = "INTERLOCK_BIN"

// Program returns the path of a program of cmd. It builds the program, unless the environment names a folder that
// contains it. The program exists until the caller's specs have run. gexec.CleanupBuildArtifacts would also remove
// programs of other specs.
func Program(name string) string {
	GinkgoHelper()
	if folder := os.Getenv(builtVariable); folder != "" {
		path := filepath.Join(folder, name)
		Expect(path).To(BeARegularFile(), "what %s names; run `make build`", builtVariable)
		return path
	}
	path := filepath.Join(GinkgoT().TempDir(), name)
	out, err := exec.Command("go", "build", "-o", path, "open-cluster-management.io/interlock/cmd/"+name).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "%s", out)
	return path
}

// Run starts a program that ends with the spec, at the latest.
func Run(program string, flags ...string) *gexec.Session {
	GinkgoHelper()
	session, err := gexec.Start(exec.Command(program, flags...), GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { session.Kill().Wait() })
	return session
}

// Hub starts a hub.
func Hub(ctx context.Context, flags map[string][]string) *testenv.Cluster {
	GinkgoHelper()
	hub, err := testenv.StartHub(ctx, testenv.Options{Name: "hub", Flags: flags})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return hub.Stop() })
	return hub
}

// Administrator returns a client of an administrator, with these types in its scheme.
func Administrator(cluster *testenv.Cluster, types ...func(*runtime.Scheme) error) client.WithWatch {
	GinkgoHelper()
	administrator, err := cluster.Client(types...)
	Expect(err).NotTo(HaveOccurred())
	return administrator
}

// ClientAs returns a client of a user, with the types and the mapper of the administrator.
func ClientAs(user *rest.Config, administrator client.Client) client.Client {
	GinkgoHelper()
	userClient, err := client.New(user, client.Options{Scheme: administrator.Scheme(), Mapper: administrator.RESTMapper()})
	Expect(err).NotTo(HaveOccurred())
	return userClient
}

// Policies installs all admission policies of deploy/hub.
func Policies(ctx context.Context, hub client.Client) {
	GinkgoHelper()
	policies, err := testenv.Policies("../../../deploy/hub")
	Expect(err).NotTo(HaveOccurred())
	for _, policy := range policies {
		Expect(hub.Create(ctx, policy)).To(Succeed())
	}
}
