package webhookca

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"
)

// pair returns a self-signed certificate and its key.
func pair(t *testing.T, name string) (certificate, key string) {
	t.Helper()
	first, second, err := cert.GenerateSelfSignedCertKey(name, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The file has the certificate and the certificate of its CA.
	leafPEM, _, _ := strings.Cut(string(first), "-----END CERTIFICATE-----\n")
	return leafPEM + "-----END CERTIFICATE-----\n", string(second)
}

func TestInvalidBundleIsRefused(t *testing.T) {
	certificate, key := pair(t, "one")
	secondCertificate, _ := pair(t, "other")
	for _, test := range []struct {
		name, text string
		want       string // part of the error, or empty without an error
	}{
		{name: "one", text: certificate},
		{name: "two, during a renewal", text: certificate + secondCertificate},
		{name: "nonsense", text: "x", want: "no certificates in PEM"},
		{
			name: "a certificate that is none", text: "-----BEGIN CERTIFICATE-----\neA==\n-----END CERTIFICATE-----\n",
			want: "no certificates in PEM",
		},
		{name: "a key", text: key, want: "no certificates in PEM"},
		{name: "a key beside it", text: certificate + key, want: "more than certificates"},
		{name: "text beside it", text: "# a comment\n" + certificate, want: "more than certificates"},
		{name: "the second is cut off", text: certificate + secondCertificate[:len(secondCertificate)/2], want: "more than certificates"},
		{name: "as many as there may be", text: strings.Repeat(certificate, maxBundle/len(certificate))},
		{name: "too many", text: strings.Repeat(certificate, maxBundle/len(certificate)+1), want: "at most 65536 are allowed"},
		{name: "absurdly large", text: strings.Repeat("x", 1<<20), want: "1048576 bytes are too many for a CA"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := checkBundle(test.text)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

// configuration returns a configuration with a webhook for each CA in base64. An empty CA is absent.
func configuration(annotations map[string]string, bundles ...string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "interlock-webhook"}}}
	object.SetAnnotations(annotations)
	webhooks := []any{}
	for _, bundle := range bundles {
		client := map[string]any{"service": map[string]any{"name": "webhook", "path": "/x"}}
		if bundle != "" {
			client["caBundle"] = bundle
		}
		webhooks = append(webhooks, map[string]any{
			"name": "a.example.com", "newer": "than this program", "clientConfig": client,
			"rules": []any{map[string]any{"operations": []any{"CREATE"}}},
		})
	}
	object.Object["webhooks"] = webhooks
	return object
}

func TestTheCAIsWrittenWhereItDiffers(t *testing.T) {
	const ours, foreign = "b3Vycw==", "b3RoZXI=" // "ours" and "other"
	ofCertManager := map[string]string{"cert-manager.io/inject-ca-from": "interlock-system/interlock-webhook"}
	for _, test := range []struct {
		name    string
		old     *unstructured.Unstructured
		want    *unstructured.Unstructured
		changed bool
	}{
		{name: "none yet", old: configuration(nil, ""), want: configuration(nil, ours), changed: true},
		{name: "another", old: configuration(nil, foreign), want: configuration(nil, ours), changed: true},
		{name: "the same", old: configuration(nil, ours), want: configuration(nil, ours)},
		{name: "one of two", old: configuration(nil, ours, foreign), want: configuration(nil, ours, ours), changed: true},
		{name: "no webhooks", old: configuration(nil), want: configuration(nil)},
		{name: "cert-manager's", old: configuration(ofCertManager, foreign), want: configuration(ofCertManager, foreign)},
		{
			name: "another annotation", old: configuration(map[string]string{"cert-manager.io/x": ""}, ""),
			want: configuration(map[string]string{"cert-manager.io/x": ""}, ours), changed: true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			changed, err := trust(test.old, []byte("ours"))
			if err != nil || changed != test.changed {
				t.Errorf("changed %t, error %v", changed, err)
			}
			if diff := cmp.Diff(test.want.Object, test.old.Object); diff != "" {
				t.Error(diff)
			}
		})
	}
	broken := configuration(nil, "")
	broken.Object["webhooks"] = []any{map[string]any{"clientConfig": "x"}}
	if changed, err := trust(broken, []byte("ours")); err == nil || changed {
		t.Errorf("changed %t, error %v", changed, err)
	}
}
