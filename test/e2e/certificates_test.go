//go:build e2e

package e2e

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const certificateSecret = "interlock-webhook-certificate"

func describeCertificates() {
	It("renews the webhook's certificate while requests run, and none of them fails", func(ctx context.Context) {
		register(ctx, "dependent", "dependency")
		before := servingCertificate(ctx)
		stop := keepConverting(ctx)
		step("put a certificate in place that ends in a day")
		expiring := replaceByExpiring(ctx)
		Expect(expiring).NotTo(Equal(before))
		Eventually(func() *big.Int { return servingCertificate(ctx).SerialNumber }).ShouldNot(
			Or(Equal(before.SerialNumber), Equal(expiring.SerialNumber)))
		Expect(time.Until(servingCertificate(ctx).NotAfter)).To(BeNumerically(">", 90*24*time.Hour))
		requests, failures := stop()
		Expect(failures).To(BeEmpty())
		Expect(requests).To(BeNumerically(">", 10))
	})
}

func servingCertificate(ctx context.Context) *x509.Certificate {
	GinkgoHelper()
	secret := &corev1.Secret{}
	Expect(hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: certificateSecret}, secret)).To(Succeed())
	return parse(secret.Data[corev1.TLSCertKey])
}

func parse(content []byte) *x509.Certificate {
	GinkgoHelper()
	block, _ := pem.Decode(content)
	Expect(block).NotTo(BeNil())
	certificate, err := x509.ParseCertificate(block.Bytes)
	Expect(err).NotTo(HaveOccurred())
	return certificate
}

// replaceByExpiring puts a certificate into the Secret that is due for renewal,
// of the same authority: what the Secret has in nine months.
func replaceByExpiring(ctx context.Context) *x509.Certificate {
	GinkgoHelper()
	secret := &corev1.Secret{}
	Expect(hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: certificateSecret}, secret)).To(Succeed())
	authority, err := tls.X509KeyPair(secret.Data[corev1.ServiceAccountRootCAKey], secret.Data["ca.key"])
	Expect(err).NotTo(HaveOccurred())
	serving, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	Expect(err).NotTo(HaveOccurred())
	template := *serving.Leaf
	template.SerialNumber, template.NotAfter = big.NewInt(time.Now().UnixNano()), time.Now().Add(24*time.Hour)
	raw, err := x509.CreateCertificate(rand.Reader, &template, authority.Leaf, serving.Leaf.PublicKey, authority.PrivateKey)
	Expect(err).NotTo(HaveOccurred())
	before := secret.DeepCopy()
	secret.Data[corev1.TLSCertKey] = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	Expect(hub.Patch(ctx, secret, client.MergeFrom(before))).To(Succeed())
	return parse(secret.Data[corev1.TLSCertKey])
}

// keepConverting reads and writes registrations through v1beta1, each of which
// takes the webhook's conversion, until it is stopped.
func keepConverting(ctx context.Context) (stop func() (requests int, failures []error)) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	var requests int
	var failures []error
	running.Go(func() {
		for ctx.Err() == nil {
			written := &ocmv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "dependent"}}
			patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"at":"`+time.Now().String()+`"}}}`))
			if err := hub.Patch(ctx, written, patch); err != nil && ctx.Err() == nil {
				failures = append(failures, err)
			}
			requests++
		}
	})
	return func() (int, []error) {
		cancel()
		running.Wait()
		return requests, failures
	}
}
