package agentaddon

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"strings"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	operatorv1 "open-cluster-management.io/api/operator/v1"
)

func TestAcceptable(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	const (
		own    = "system:open-cluster-management:cluster:cluster1:addon:interlock-agent"
		common = "system:open-cluster-management:addon:interlock-agent"
		user   = own + ":agent:interlock-agent"
	)
	type request struct {
		csr *certificatesv1.CertificateSigningRequest
		x   *x509.CertificateRequest
	}
	for _, test := range []struct {
		name   string
		change func(request)
		want   string // empty: acceptable
	}{
		{"what OCM's agent asks for", func(request) {}, ""},
		{"what an older one asks for", func(r request) { r.x.Subject.Organization = append(r.x.Subject.Organization, authenticated) }, ""},
		{"by gRPC", func(r request) {
			r.csr.Spec.Username = grpcServer
			r.csr.Annotations = map[string]string{operatorv1.CSRUsernameAnnotation: "system:open-cluster-management:cluster1:agent"}
		}, ""},
		{"by gRPC for another", func(r request) { r.csr.Spec.Username = grpcServer }, `requested by ""`},
		{"by whom an annotation only names", func(r request) {
			r.csr.Spec.Username = "somebody"
			r.csr.Annotations = map[string]string{operatorv1.CSRUsernameAnnotation: "system:open-cluster-management:cluster1:agent"}
		}, `requested by "somebody"`},
		{"of a cluster whose name begins the same", func(r request) { r.csr.Spec.Username = "system:open-cluster-management:cluster10:agent" }, "not an agent of the cluster"},
		{"group of another cluster", func(r request) {
			r.x.Subject.Organization = append(r.x.Subject.Organization, strings.Replace(own, "cluster1", "cluster2", 1))
		}, "is not one of the agent's"},
		{"administrators", func(r request) { r.x.Subject.Organization = append(r.x.Subject.Organization, "system:masters") }, `group "system:masters" is not one of the agent's`},
		{"own group missing", func(r request) { r.x.Subject.Organization = []string{common} }, "is missing"},
		{"another user", func(r request) { r.x.Subject.CommonName = "admin" }, `user "admin"`},
		{"a server's certificate", func(r request) {
			r.csr.Spec.Usages = append(r.csr.Spec.Usages, certificatesv1.UsageServerAuth)
		}, `usage "server auth"`},
		{"another signer", func(r request) { r.csr.Spec.SignerName = certificatesv1.KubeletServingSignerName }, "signer"},
		{"without a DNS name", func(r request) { r.x.DNSNames = nil }, ""},
		{"the DNS name of a host", func(r request) { r.x.DNSNames = append(r.x.DNSNames, "hub") }, `DNS name "hub"`},
		{"another alternative name", func(r request) { r.x.EmailAddresses = []string{"agent@example.com"} }, "1 alternative names"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := request{&certificatesv1.CertificateSigningRequest{}, &x509.CertificateRequest{
				Subject:  pkix.Name{CommonName: user, Organization: []string{own, common}},
				DNSNames: []string{"interlock-agent.addon.open-cluster-management.io"},
			}}
			r.csr.Spec.Username = "system:open-cluster-management:cluster1:agent"
			r.csr.Spec.SignerName = certificatesv1.KubeAPIServerClientSignerName
			r.csr.Spec.Usages = append(r.csr.Spec.Usages, clientUsages...)
			test.change(r)
			der, err := x509.CreateCertificateRequest(rand.Reader, r.x, key)
			if err != nil {
				t.Fatal(err)
			}
			r.csr.Spec.Request = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
			err = acceptable("cluster1", r.csr)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	for _, nonsense := range []string{"", "nonsense", "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n"} {
		csr := &certificatesv1.CertificateSigningRequest{}
		csr.Spec.Username, csr.Spec.SignerName = "system:open-cluster-management:cluster1:agent", certificatesv1.KubeAPIServerClientSignerName
		csr.Spec.Request = []byte(nonsense)
		if err := acceptable("cluster1", csr); err == nil {
			t.Errorf("%q is acceptable", nonsense)
		}
	}
}

func TestSubjectIsTheClustersAgentAlone(t *testing.T) {
	installed := onCluster("cluster1")
	if got := subject("cluster1", installed); got.Kind != "Group" || got.Name != "system:open-cluster-management:cluster:cluster1:addon:interlock-agent" {
		t.Errorf("by certificate: %v", got)
	}
	// What the registration agent reports of itself is not believed.
	reported := addonv1beta1.KubeClientConfig{Driver: tokenDriver}
	reported.Subject.User, reported.Subject.Groups = "system:serviceaccount:cluster2:interlock-agent-agent", []string{"system:serviceaccounts"}
	installed.Status.Registrations = []addonv1beta1.RegistrationConfig{{Type: addonv1beta1.KubeClient, KubeClient: &reported}}
	if got := subject("cluster1", installed); got.Kind != "User" || got.Name != "system:serviceaccount:cluster1:interlock-agent-agent" {
		t.Errorf("by token: %v", got)
	}
}
