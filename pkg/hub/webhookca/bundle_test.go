package webhookca

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"
)

// pair returns a certificate that signs itself, and its key.
func pair(t *testing.T, name string) (certificate, key string) {
	t.Helper()
	first, second, err := cert.GenerateSelfSignedCertKey(name, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	// With the certificate comes that of the CA which signed it.
	one, _, _ := strings.Cut(string(first), "-----END CERTIFICATE-----\n")
	return one + "-----END CERTIFICATE-----\n", string(second)
}

func TestWhatIsNoCAIsRefused(t *testing.T) {
	one, key := pair(t, "one")
	other, _ := pair(t, "other")
	for _, test := range []struct {
		name, text string
		want       string // of the error; empty for none
	}{
		{name: "one", text: one},
		{name: "two, during a renewal", text: one + other},
		{name: "nonsense", text: "x", want: "no certificates in PEM"},
		{
			name: "a certificate that is none", text: "-----BEGIN CERTIFICATE-----\neA==\n-----END CERTIFICATE-----\n",
			want: "no certificates in PEM",
		},
		{name: "a key", text: key, want: "no certificates in PEM"},
		{name: "a key beside it", text: one + key, want: "more than certificates"},
		{name: "text beside it", text: "# a comment\n" + one, want: "more than certificates"},
		{name: "the second is cut off", text: one + other[:len(other)/2], want: "more than certificates"},
		{name: "as many as there may be", text: strings.Repeat(one, maxBundle/len(one))},
		{name: "too many", text: strings.Repeat(one, maxBundle/len(one)+1), want: "at most 65536 are allowed"},
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

// configuration has a webhook for each CA, in base64. An empty one is absent.
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
	const ours, other = "b3Vycw==", "b3RoZXI=" // "ours" and "other"
	ofCertManager := map[string]string{"cert-manager.io/inject-ca-from": "interlock-system/interlock-webhook"}
	for _, test := range []struct {
		name    string
		before  *unstructured.Unstructured
		after   *unstructured.Unstructured
		changed bool
	}{
		{name: "none yet", before: configuration(nil, ""), after: configuration(nil, ours), changed: true},
		{name: "another", before: configuration(nil, other), after: configuration(nil, ours), changed: true},
		{name: "the same", before: configuration(nil, ours), after: configuration(nil, ours)},
		{name: "one of two", before: configuration(nil, ours, other), after: configuration(nil, ours, ours), changed: true},
		{name: "no webhooks", before: configuration(nil), after: configuration(nil)},
		{name: "cert-manager's", before: configuration(ofCertManager, other), after: configuration(ofCertManager, other)},
		{
			name: "another annotation", before: configuration(map[string]string{"cert-manager.io/x": ""}, ""),
			after: configuration(map[string]string{"cert-manager.io/x": ""}, ours), changed: true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			changed, err := trust(test.before, []byte("ours"))
			if err != nil || changed != test.changed {
				t.Errorf("changed %t, error %v", changed, err)
			}
			if diff := cmp.Diff(test.after.Object, test.before.Object); diff != "" {
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
