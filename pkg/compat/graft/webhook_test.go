package graft

import (
	"bytes"
	"encoding/pem"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/compat/endpoint"
)

func certificate(content string) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte(content)})
}

func bundle(contents ...string) []byte {
	var certificates []byte
	for _, content := range contents {
		certificates = append(certificates, certificate(content)...)
	}
	return certificates
}

func TestUnion(t *testing.T) {
	for name, tt := range map[string]struct{ first, second, want []byte }{
		"the same":        {bundle("a"), bundle("a"), bundle("a")},
		"nothing before":  {bundle("a"), nil, bundle("a")},
		"another":         {bundle("a"), bundle("b"), bundle("a", "b")},
		"overlapping":     {bundle("a", "b"), bundle("b", "c"), bundle("a", "b", "c")},
		"twice":           {bundle("a"), bundle("b", "b"), bundle("a", "b")},
		"no certificate":  {bundle("a"), []byte("b"), bundle("a")},
		"without newline": {bytes.TrimSpace(bundle("a")), bundle("b"), bundle("a", "b")},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(string(tt.want), string(union(tt.first, tt.second))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func (b *bench) stanzaCA(t *testing.T) []byte {
	t.Helper()
	config := &apiextensionsv1.WebhookClientConfig{URL: ptr.To(b.webhook.URL + conversionPath)}
	return trusted(b.crd(t), config)
}

func (b *bench) inject(t *testing.T, authority []byte) {
	t.Helper()
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := b.hub.Get(t.Context(), client.ObjectKey{Name: endpoint.ConfigurationName}, configuration); err != nil {
		t.Fatal(err)
	}
	configuration.Webhooks[0].ClientConfig.CABundle = authority
	if err := b.hub.Update(t.Context(), configuration); err != nil {
		t.Fatal(err)
	}
}

// The webhook's own certificate must stay in the bundle, or probes fail.
func TestANewCAIsTrustedAtOnceAndTheOldOneForAWhile(t *testing.T) {
	b := newBench(t)
	old := union(b.authority(), b.otherAuthority(t))
	b.inject(t, old)
	b.expect(t, ReasonGrafted, true)
	if got := b.stanzaCA(t); !bytes.Equal(got, old) {
		t.Fatalf("CA of the CRD: %s", got)
	}
	b.inject(t, b.authority())
	b.expect(t, ReasonGrafted, true)
	if got := b.stanzaCA(t); !bytes.Equal(got, old) {
		t.Errorf("the old CA is gone at once: %s", got)
	}
	b.clock.Step(caOverlap + time.Second)
	b.expect(t, ReasonGrafted, true)
	if got := b.stanzaCA(t); !bytes.Equal(got, b.authority()) {
		t.Errorf("the old CA is still trusted: %s", got)
	}
	if n := b.contested(t); n != 0 {
		t.Errorf("contested %v times", n)
	}
}

// Two writers that keep injecting different CAs must not cause a write of the CRD
// each time, because such a write ends all watches.
func TestWritersThatInsistOnDifferentCAsMoveNoCRD(t *testing.T) {
	b := newBench(t)
	first, second := b.authority(), union(b.otherAuthority(t), b.authority())
	b.inject(t, first)
	b.expect(t, ReasonGrafted, true)
	for range 5 {
		for _, authority := range [][]byte{second, first} {
			b.inject(t, authority)
			b.expect(t, ReasonGrafted, true)
		}
	}
	if b.writes > 2 {
		t.Errorf("%d writes of the CRD", b.writes)
	}
}

// otherAuthority returns a certificate that signs nothing.
func (b *bench) otherAuthority(t *testing.T) []byte {
	t.Helper()
	raw := bytes.Clone(b.webhook.Certificate().Raw)
	raw[len(raw)-1] ^= 1 // another signature
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}

func TestTheSameWebhookByItsService(t *testing.T) {
	service := &admissionregistrationv1.ServiceReference{Namespace: "n", Name: "s", Path: ptr.To(conversionPath)}
	config := forCRD(&admissionregistrationv1.WebhookClientConfig{Service: service, CABundle: bundle("a")})
	if got, want := urlOf(config), "https://s.n.svc:443/convert"; got != want {
		t.Errorf("located at %s", got)
	}
	stanza, err := stanzaOf(config)
	if err != nil {
		t.Fatal(err)
	}
	crd := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"conversion": stanza}}}
	if got := trusted(crd, config); !bytes.Equal(got, bundle("a")) {
		t.Errorf("trusted: %s", got)
	}
	elsewhere := config.DeepCopy()
	elsewhere.Service.Name = "other"
	if got := trusted(crd, elsewhere); got != nil {
		t.Errorf("trusts the CA of another webhook: %s", got)
	}
}
