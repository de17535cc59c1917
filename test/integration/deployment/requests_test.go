package deployment

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func tokenOf(ctx context.Context, account client.Object) string {
	GinkgoHelper()
	request := &authenticationv1.TokenRequest{}
	Expect(admin.SubResource("token").Create(ctx, account, request)).To(Succeed())
	return request.Status.Token
}

// scrape returns the response to a request for metrics.
func scrape(address, token string) func() (int, error) {
	return func() (int, error) {
		request, err := http.NewRequest(http.MethodGet, "https://"+address+"/metrics", nil)
		if err != nil {
			return 0, err
		}
		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}
		status, _, err := call(request)
		return status, err
	}
}

// call does not verify the certificate, which has another name here, or is signed by the server itself.
func call(request *http.Request) (status int, body string, err error) {
	unverified := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // see above
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: unverified}
	response, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

// review returns the webhook's response to the registration of an add-on.
func review(address, addOn, dependency string) func() (string, error) {
	object := fmt.Sprintf(`{"apiVersion":"addon.open-cluster-management.io/v1alpha1","kind":"ClusterManagementAddOn","metadata":{"name":%q},`+
		`"spec":{"dependencies":[{"name":%q,"type":"Required"}],`+
		`"installStrategy":{"type":"Placements","placements":[{"namespace":"default","name":"missing"}]}}}`, addOn, dependency)
	body := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","name":"` + addOn + `",` +
		`"kind":{"group":"addon.open-cluster-management.io","version":"v1alpha1","kind":"ClusterManagementAddOn"},"object":` + object + `}}`
	return func() (string, error) {
		request, err := http.NewRequest(http.MethodPost, "https://"+address+"/validate-clustermanagementaddon", strings.NewReader(body))
		if err != nil {
			return "", err
		}
		request.Header.Set("Content-Type", "application/json")
		_, answer, err := call(request)
		return answer, err
	}
}
