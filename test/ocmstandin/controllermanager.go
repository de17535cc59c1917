package ocmstandin

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// validity of the certificates: longer than any test.
const validity = 24 * time.Hour

// ControllerManager stands in for two controllers of kube-controller-manager on
// the hub: the one that signs approved requests for client certificates, and
// the garbage collector, for works, role bindings and add-ons whose owner has
// gone.
type ControllerManager struct {
	Hub *rest.Config
	CA  *CA
	// Report is told of what failed and will be tried again.
	Report func(error)

	hub client.Client
}

// CA signs client certificates.
type CA struct {
	// Certificate is the CA in PEM; the hub's API server has to trust it.
	Certificate []byte

	parsed *x509.Certificate
	key    crypto.Signer
}

// NewCA makes a CA.
func NewCA() (*CA, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kube-controller-manager-signer"},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(validity),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	return &CA{Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), parsed: parsed, key: key}, err
}

// sign gives a request the certificate that it asks for.
func (ca *CA) sign(request []byte) ([]byte, error) {
	block, _ := pem.Decode(request)
	if block == nil {
		return nil, errors.New("no PEM")
	}
	asked, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: serial, Subject: asked.Subject, NotBefore: time.Now().Add(-time.Minute), NotAfter: ca.parsed.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca.parsed, asked.PublicKey, ca.key)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), err
}

// Run does its work until the context ends.
func (m *ControllerManager) Run(ctx context.Context) error {
	scheme, err := hubScheme()
	if err != nil {
		return err
	}
	if m.hub, err = client.New(unthrottled(m.Hub), client.Options{Scheme: scheme}); err != nil {
		return err
	}
	repeat(ctx, func(err error) {
		if m.Report != nil {
			m.Report(fmt.Errorf("kube-controller-manager: %w", err))
		}
	}, func(ctx context.Context) error { return errors.Join(m.sign(ctx), m.collect(ctx)) })
	return nil
}

func (m *ControllerManager) sign(ctx context.Context) error {
	var requests certificatesv1.CertificateSigningRequestList
	if err := m.hub.List(ctx, &requests); err != nil {
		return err
	}
	var failures []error
	for i := range requests.Items {
		request := &requests.Items[i]
		if request.Spec.SignerName != certificatesv1.KubeAPIServerClientSignerName || len(request.Status.Certificate) > 0 || !approved(request) {
			continue
		}
		var err error
		if request.Status.Certificate, err = m.CA.sign(request.Spec.Request); err == nil {
			err = m.hub.Status().Update(ctx, request)
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

func approved(request *certificatesv1.CertificateSigningRequest) bool {
	for _, condition := range request.Status.Conditions {
		if condition.Type == certificatesv1.CertificateApproved && condition.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// collect deletes what is owned by something that is no longer there.
func (m *ControllerManager) collect(ctx context.Context) error {
	var failures []error
	for _, list := range []client.ObjectList{&addonv1beta1.ManagedClusterAddOnList{}, &workv1.ManifestWorkList{}, &rbacv1.RoleBindingList{}} {
		if err := m.hub.List(ctx, list); err != nil {
			failures = append(failures, err)
			continue
		}
		items, err := meta.ExtractList(list)
		failures = append(failures, err)
		for _, item := range items {
			if object, ok := item.(client.Object); ok && object.GetDeletionTimestamp().IsZero() {
				failures = append(failures, m.collectOne(ctx, object))
			}
		}
	}
	return errors.Join(failures...)
}

func (m *ControllerManager) collectOne(ctx context.Context, object client.Object) error {
	owners := object.GetOwnerReferences()
	for _, reference := range owners {
		owner := &metav1.PartialObjectMetadata{}
		owner.APIVersion, owner.Kind = reference.APIVersion, reference.Kind
		err := m.hub.Get(ctx, client.ObjectKey{Namespace: namespaceOf(reference, object), Name: reference.Name}, owner)
		if err == nil && owner.UID == reference.UID || err != nil && !apierrors.IsNotFound(err) {
			return client.IgnoreNotFound(err)
		}
	}
	if len(owners) == 0 {
		return nil
	}
	return client.IgnoreNotFound(m.hub.Delete(ctx, object))
}

func namespaceOf(owner metav1.OwnerReference, owned client.Object) string {
	if owner.Kind == "ClusterManagementAddOn" {
		return ""
	}
	return owned.GetNamespace()
}
