package webhookca

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"
)

// maxBundle is the maximum size of a CA bundle in bytes. One CA of the webhook has about
// 1,200 bytes, and a bundle usually has at most two.
const maxBundle = 64 << 10

// checkBundle returns an error if the text contains anything other than certificates.
func checkBundle(text string) error {
	if len(text) > maxBundle {
		return fmt.Errorf("%d bytes are too many for a CA, at most %d are allowed", len(text), maxBundle)
	}
	certificates, err := cert.ParseCertsPEM([]byte(text))
	if err != nil {
		return fmt.Errorf("no certificates in PEM: %w", err)
	}
	canonical, err := cert.EncodeCertificates(certificates...)
	if err == nil && string(canonical) != text {
		err = errors.New("there is more than certificates in PEM")
	}
	return err
}

// trust sets the CA of all webhooks of a configuration, and reports whether one of them
// changed. A configuration with an annotation of cert-manager's cainjector is left alone.
func trust(configuration *unstructured.Unstructured, bundle []byte) (bool, error) {
	for name := range configuration.GetAnnotations() {
		if strings.HasPrefix(name, "cert-manager.io/inject-") {
			return false, nil
		}
	}
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return false, err
	}
	changed := false
	encoded := base64.StdEncoding.EncodeToString(bundle)
	for _, webhook := range webhooks {
		fields := webhook.(map[string]any) // as API servers serve it
		present, _, err := unstructured.NestedString(fields, "clientConfig", "caBundle")
		if err == nil && present != encoded {
			err, changed = unstructured.SetNestedField(fields, encoded, "clientConfig", "caBundle"), true
		}
		if err != nil {
			return false, err
		}
	}
	if !changed {
		return false, nil
	}
	return true, unstructured.SetNestedSlice(configuration.Object, webhooks, "webhooks")
}
