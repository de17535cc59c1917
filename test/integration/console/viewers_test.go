package console

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/setup"
)

// browser trusts the certificate that the console makes for itself.
var browser = &http.Client{Transport: &http.Transport{
	ForceAttemptHTTP2: true,                                  // as browsers do
	TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // no authority has signed it
}}

// signUp makes a service account, and returns its token for the API server, or for other audiences.
func signUp(ctx context.Context, name string, audiences ...string) string {
	GinkgoHelper()
	user := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "viewers", Name: name}}
	Expect(admin.Create(ctx, user)).To(Succeed())
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: audiences}}
	Expect(admin.SubResource("token").Create(ctx, user, request)).To(Succeed())
	return request.Status.Token
}

func subject(name string) []rbacv1.Subject {
	return []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "viewers", Name: name}}
}

// grantAll gives a service account the rights of a user of the plugin.
func grantAll(ctx context.Context, name string) {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	setup.Read("plugin-reader/clusterrole.yaml", role)
	Expect(client.IgnoreAlreadyExists(admin.Create(ctx, role))).To(Succeed())
	bind(ctx, name, role.Name)
}

// grant gives a service account a ClusterRole of its own.
func grant(ctx context.Context, name string, rules ...rbacv1.PolicyRule) {
	GinkgoHelper()
	Expect(admin.Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules})).To(Succeed())
	bind(ctx, name, name)
}

func bind(ctx context.Context, name, role string) {
	GinkgoHelper()
	Expect(admin.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Subjects: subject(name),
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
	})).To(Succeed())
}

var listRegistrations = rbacv1.PolicyRule{
	APIGroups: []string{"addon.open-cluster-management.io"}, Resources: []string{"clustermanagementaddons"}, Verbs: []string{"list"},
}

// grantClusters gives a service account the rights of a team that owns these managed clusters.
func grantClusters(ctx context.Context, name string, clusters ...string) {
	GinkgoHelper()
	grant(ctx, name, listRegistrations, rbacv1.PolicyRule{
		APIGroups: []string{"cluster.open-cluster-management.io"}, Resources: []string{"managedclusters"}, ResourceNames: clusters,
		Verbs: []string{"get"},
	})
	for _, cluster := range clusters {
		Expect(admin.Create(ctx, &rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name},
			Rules: []rbacv1.PolicyRule{{
				APIGroups: []string{"addon.open-cluster-management.io"}, Resources: []string{"managedclusteraddons"}, Verbs: []string{"list"},
			}},
		})).To(Succeed())
		Expect(admin.Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}, Subjects: subject(name),
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		})).To(Succeed())
	}
}

// request sends a request of a viewer.
func (s served) request(ctx context.Context, token, path string) *http.Response {
	GinkgoHelper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+path, http.NoBody)
	Expect(err).NotTo(HaveOccurred())
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := browser.Do(request)
	Expect(err).NotTo(HaveOccurred())
	return response
}

// get returns the status and the text of a response.
func (s served) get(ctx context.Context, token, path string) string {
	GinkgoHelper()
	response := s.request(ctx, token, path)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return fmt.Sprintf("%d %s%s", response.StatusCode, response.Header.Get("WWW-Authenticate"), body)
}

// open returns the events of a stream, each as its name and its data. The channel closes with the stream.
func (s served) open(ctx context.Context, token string) <-chan string {
	GinkgoHelper()
	response := s.request(ctx, token, "/api/events") //nolint:bodyclose // the goroutine closes it
	Expect(response.StatusCode).To(Equal(http.StatusOK))
	events := make(chan string, 1000)
	go func() {
		defer close(events)
		defer response.Body.Close()
		lines, name := bufio.NewScanner(response.Body), ""
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				name = event
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				events <- name + " " + data
			}
		}
	}()
	return events
}
