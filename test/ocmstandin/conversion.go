package ocmstandin

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"open-cluster-management.io/interlock/pkg/webhook/conversion"
)

// Conversion stands in for OCM's webhook that converts add-ons between v1alpha1
// and v1beta1. ManagedClusterAddOns are converted as OCM does; registrations by
// Interlock's own converter, as on a hub with Interlock's CRD.
type Conversion struct {
	url    string
	ca     []byte
	server *http.Server
}

// ServeConversion serves on a port of the loopback interface until the context ends.
func ServeConversion(ctx context.Context) (*Conversion, error) {
	certificate, ca, err := selfSigned()
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(addonv1alpha1.Install(scheme), addonv1beta1.Install(scheme)); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &Conversion{url: fmt.Sprintf("https://%s/convert", listener.Addr()), ca: ca, server: &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(scheme, w, r) }),
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		ReadHeaderTimeout: time.Minute,
	}}
	go func() { _ = c.server.ServeTLS(listener, "", "") }() // ends when it is closed
	context.AfterFunc(ctx, func() { _ = c.server.Close() })
	return c, nil
}

// Apply points the CRD to the webhook.
func (c *Conversion) Apply(crd *apiextensionsv1.CustomResourceDefinition) {
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: ptr.To(c.url), CABundle: c.ca},
			ConversionReviewVersions: []string{"v1"},
		},
	}
}

func serve(scheme *runtime.Scheme, w http.ResponseWriter, r *http.Request) {
	var review apiextensionsv1.ConversionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(w, "not a ConversionReview", http.StatusBadRequest)
		return
	}
	response := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, object := range review.Request.Objects {
		converted, err := convert(scheme, object.Raw, review.Request.DesiredAPIVersion)
		if err != nil {
			response.Result = metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
			response.ConvertedObjects = nil
			break
		}
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: converted})
	}
	review.Request, review.Response = nil, response
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review) // the API server notices a broken connection itself
}

func convert(scheme *runtime.Scheme, raw []byte, desired string) ([]byte, error) {
	var kind metav1.TypeMeta
	if err := json.Unmarshal(raw, &kind); err != nil {
		return nil, err
	}
	if kind.Kind == "ClusterManagementAddOn" {
		return conversion.Convert(raw, desired)
	}
	return convertInstallation(scheme, raw, desired)
}

// convertInstallation converts a ManagedClusterAddOn. The two fields that
// v1beta1 lacks are kept as OCM does, in an annotation or from their copy.
func convertInstallation(scheme *runtime.Scheme, raw []byte, desired string) ([]byte, error) {
	older, newer := &addonv1alpha1.ManagedClusterAddOn{}, &addonv1beta1.ManagedClusterAddOn{}
	if desired == addonv1beta1.GroupVersion.String() {
		if err := json.Unmarshal(raw, older); err != nil {
			return nil, err
		}
		if err := scheme.Convert(older, newer, nil); err != nil {
			return nil, err
		}
		newer.APIVersion, newer.Kind = desired, "ManagedClusterAddOn"
		if namespace := older.Spec.InstallNamespace; namespace != "" { //nolint:staticcheck // deprecated, and what is to be kept
			metav1.SetMetaDataAnnotation(&newer.ObjectMeta, addonv1beta1.InstallNamespaceAnnotation, namespace)
		}
		return json.Marshal(newer)
	}
	if err := json.Unmarshal(raw, newer); err != nil {
		return nil, err
	}
	if err := scheme.Convert(newer, older, nil); err != nil {
		return nil, err
	}
	older.APIVersion, older.Kind = desired, "ManagedClusterAddOn"
	older.Spec.InstallNamespace = older.Annotations[addonv1beta1.InstallNamespaceAnnotation] //nolint:staticcheck // deprecated, and what is to be kept
	delete(older.Annotations, addonv1beta1.InstallNamespaceAnnotation)
	for i := range older.Status.ConfigReferences {
		if reference := &older.Status.ConfigReferences[i]; reference.DesiredConfig != nil {
			reference.ConfigReferent = reference.DesiredConfig.ConfigReferent
		}
	}
	return json.Marshal(older)
}

func selfSigned() (certificate tls.Certificate, ca []byte, err error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return certificate, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "conversion"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(validity),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return certificate, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}
