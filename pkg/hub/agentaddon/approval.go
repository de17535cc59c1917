package agentaddon

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	"open-cluster-management.io/addon-framework/pkg/agent"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	operatorv1 "open-cluster-management.io/api/operator/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// grpcServer requests certificates for agents that are registered by gRPC; an
// annotation says for whom.
const grpcServer = "system:serviceaccount:open-cluster-management-hub:grpc-server-sa"

// authenticated is the group that older registration agents ask for as well.
const authenticated = "system:authenticated"

// dnsName is in the request of every registration agent for this add-on. It is
// no host's name, and a certificate for clients alone serves nothing under it.
const dnsName = Name + ".addon.open-cluster-management.io"

var clientUsages = []certificatesv1.KeyUsage{
	certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageClientAuth,
}

// approve implements agent.CSRApproveFunc.
func approve(
	ctx context.Context, cluster *clusterv1.ManagedCluster, _ *addonv1beta1.ManagedClusterAddOn, request *certificatesv1.CertificateSigningRequest,
) bool {
	if err := acceptable(cluster.Name, request); err != nil {
		log.FromContext(ctx).Info("Certificate of addon-agent is not approved", "request", request.Name, "cluster", cluster.Name, "reason", err.Error())
		return false
	}
	return true
}

// acceptable returns why the request is not one of the cluster's registration
// agent for the identity of that cluster's addon-agent and nothing more, or
// nil. The check of addon-framework is not enough: it takes the name of a
// cluster for that of any whose name begins with it, and lets a third group of
// any name pass, such as the one of another cluster's agent.
func acceptable(cluster string, request *certificatesv1.CertificateSigningRequest) error {
	requester := request.Spec.Username
	if requester == grpcServer {
		requester = request.Annotations[operatorv1.CSRUsernameAnnotation]
	}
	if !strings.HasPrefix(requester, "system:open-cluster-management:"+cluster+":") {
		return fmt.Errorf("it was requested by %q, which is not an agent of the cluster", requester)
	}
	if request.Spec.SignerName != certificatesv1.KubeAPIServerClientSignerName {
		return fmt.Errorf("signer %q is not %s", request.Spec.SignerName, certificatesv1.KubeAPIServerClientSignerName)
	}
	for _, usage := range request.Spec.Usages {
		if !slices.Contains(clientUsages, usage) {
			return fmt.Errorf("usage %q is none of a client's", usage)
		}
	}
	block, _ := pem.Decode(request.Spec.Request)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errors.New("it contains no PEM block CERTIFICATE REQUEST")
	}
	certificate, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return fmt.Errorf("parse it: %w", err)
	}
	return acceptableSubject(cluster, certificate)
}

func acceptableSubject(cluster string, certificate *x509.CertificateRequest) error {
	if user := agent.DefaultUser(cluster, Name, Name); certificate.Subject.CommonName != user {
		return fmt.Errorf("user %q is not %q", certificate.Subject.CommonName, user)
	}
	groups := agent.DefaultGroups(cluster, Name)
	for _, group := range groups {
		if !slices.Contains(certificate.Subject.Organization, group) {
			return fmt.Errorf("group %q is missing", group)
		}
	}
	for _, group := range certificate.Subject.Organization {
		if group != authenticated && !slices.Contains(groups, group) {
			return fmt.Errorf("group %q is not one of the agent's", group)
		}
	}
	for _, name := range certificate.DNSNames {
		if name != dnsName {
			return fmt.Errorf("DNS name %q is not %q", name, dnsName)
		}
	}
	if names := len(certificate.IPAddresses) + len(certificate.EmailAddresses) + len(certificate.URIs); names > 0 {
		return fmt.Errorf("it requests %d alternative names other than a DNS name", names)
	}
	return nil
}
