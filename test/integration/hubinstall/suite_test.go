// Package hubinstall installs Interlock on a hub of real OCM with kubectl addon hub, upgrades and uninstalls it. The images go to a
// registry in this process. The specs run the programs in place of a kubelet, with the rights of their service accounts.
package hubinstall

import (
	"bytes"
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/cli"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/pkg/offline/kustomization"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
	"open-cluster-management.io/interlock/test/testenv"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const namespace = "interlock-system"

var (
	hub *ocm.Hub
	// installer has the rights of deploy/hub-installer and deploy/plugin-reader, and no other.
	installer *testenv.User
	// reader has the rights of deploy/plugin-reader only.
	reader *testenv.User
	// images is the address of the registry.
	images string
	nodes  *node
)

func TestHubInstall(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "hub install")
}

var _ = BeforeSuite(func(ctx context.Context) {
	hub = ocmsuite.Begin(ctx, 60*time.Second, ocm.HubOptions{})
	scheme := hub.Client.Scheme()
	Expect(errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme))).To(Succeed())
	server := httptest.NewServer(registry.New())
	DeferCleanup(server.Close)
	images = strings.TrimPrefix(server.URL, "http://")
	installer = user(ctx, "installer", "hub-installer", "plugin-reader")
	reader = user(ctx, "reader", "plugin-reader")
	nodes = startNode()
}, NodeTimeout(4*time.Minute))

// user returns a user with the roles in folders of deploy/.
func user(ctx context.Context, name string, folders ...string) *testenv.User {
	GinkgoHelper()
	created, err := hub.AddUser(name)
	Expect(err).NotTo(HaveOccurred())
	subjects := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}}
	for _, folder := range folders {
		objects, err := kustomization.Build("../../../deploy/" + folder)
		Expect(err).NotTo(HaveOccurred())
		for _, object := range objects {
			if object.GetKind() != "ClusterRole" {
				continue
			}
			Expect(hub.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("kubectl"))).To(Succeed())
			Expect(hub.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: name + "-" + object.GetName()}, Subjects: subjects,
				RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: object.GetName()},
			})).To(Succeed())
		}
	}
	return created
}

// result is the exit code and the output of a run of the plugin.
type result struct {
	code        int
	out, errors string
}

// plugin runs the plugin as a user. Nobody answers questions.
func plugin(ctx context.Context, user *testenv.User, line string) result {
	GinkgoHelper()
	var out, errOut bytes.Buffer
	command := cli.NewCommand(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
	command.SetArgs(append(strings.Fields(line), "--kubeconfig", user.Kubeconfig))
	r := result{code: cmdline.Run(ctx, command, &errOut)}
	r.out, r.errors = out.String(), errOut.String()
	AddReportEntry("kubectl addon "+line, r.out+r.errors)
	return r
}

// exists reports whether an object exists.
func exists(ctx context.Context, object client.Object) func() (bool, error) {
	return func() (bool, error) {
		err := hub.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		return err == nil, client.IgnoreNotFound(err)
	}
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}
