package deployment

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// recorder is an authorizer without an opinion. It records all permissions for which the API server asks, also those that no audit log
// shows, such as
// the permission to create by server-side apply.
type recorder struct {
	server *httptest.Server

	mutex    sync.Mutex
	step     string
	requests []accessRequest
}

// accessRequest is a permission that a user has used, and the step that used it.
type accessRequest struct {
	user string
	authorizationv1.ResourceAttributes
	step string
}

func newRecorder() *recorder {
	r := &recorder{}
	r.server = httptest.NewTLSServer(http.HandlerFunc(r.answer))
	return r
}

func (r *recorder) close() { r.server.Close() }

// config writes the kubeconfig by which the API server reaches the recorder.
func (r *recorder) config(folder string) string {
	path := filepath.Join(folder, "authorizer.kubeconfig")
	config := clientcmdapi.NewConfig()
	config.Clusters["recorder"] = &clientcmdapi.Cluster{
		Server:                   r.server.URL,
		CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.server.Certificate().Raw}),
	}
	config.Contexts["recorder"] = &clientcmdapi.Context{Cluster: "recorder"}
	config.CurrentContext = "recorder"
	content, err := clientcmd.Write(*config)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(path, content, 0o600)).To(Succeed())
	return path
}

func (r *recorder) answer(writer http.ResponseWriter, request *http.Request) {
	var review authorizationv1.SubjectAccessReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	if review.Spec.ResourceAttributes != nil {
		r.mutex.Lock()
		r.requests = append(r.requests, accessRequest{user: review.Spec.User, ResourceAttributes: *review.Spec.ResourceAttributes, step: r.step})
		r.mutex.Unlock()
	}
	review.Status = authorizationv1.SubjectAccessReviewStatus{}
	writer.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(writer).Encode(review) // a request without a response is refused, which fails the spec
}

// begin names the step that follows.
func (r *recorder) begin(step string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.step = step
}

func (r *recorder) allRequests() []accessRequest {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.Clone(r.requests)
}

// used reports whether a user has used a permission. Some requests of a step come after its visible effect, such as a watch after its
// list. A step
// that ends early would miss them.
func (r *recorder) used(user, verb, resource string) func() bool {
	return r.usedOn(user, verb, resource, "")
}

// usedOn reports whether a user has used a permission for one object.
func (r *recorder) usedOn(user, verb, resource, name string) func() bool {
	return func() bool {
		return slices.ContainsFunc(r.allRequests(), func(a accessRequest) bool {
			return a.user == user && a.Verb == verb && a.Resource == resource && (name == "" || a.Name == name)
		})
	}
}
