package endpoint

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestAnotherPathOfTheSameServer(t *testing.T) {
	service := func(path string) *admissionregistrationv1.ServiceReference {
		return &admissionregistrationv1.ServiceReference{Namespace: "interlock-system", Name: "webhook", Path: &path, Port: ptr.To(int32(8443))}
	}
	for _, test := range []struct {
		name           string
		original, want admissionregistrationv1.WebhookClientConfig
		absent, fails  bool
	}{
		{
			name:     "a Service",
			original: admissionregistrationv1.WebhookClientConfig{Service: service("/validate"), CABundle: []byte("authority")},
			want:     admissionregistrationv1.WebhookClientConfig{Service: service("/guard"), CABundle: []byte("authority")},
		},
		{name: "a Service that has not run", original: admissionregistrationv1.WebhookClientConfig{Service: service("/validate")}, absent: true},
		{
			name: "an address",
			original: admissionregistrationv1.WebhookClientConfig{
				URL: ptr.To("https://webhook.example.com:8443/validate?x=y"), CABundle: []byte("authority"),
			},
			want: admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://webhook.example.com:8443/guard"), CABundle: []byte("authority")},
		},
		{
			name:     "an address that needs no CA",
			original: admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://webhook.example.com")},
			want:     admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://webhook.example.com/guard")},
		},
		{name: "no address", original: admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://[")}, fails: true},
		{name: "nothing", absent: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			stored := test.original.DeepCopy()
			got, err := withPath(test.original, "/guard")
			if (err != nil) != test.fails {
				t.Fatal(err)
			}
			if test.absent || test.fails {
				if got != nil {
					t.Errorf("%+v", got)
				}
			} else if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(stored, &test.original); diff != "" {
				t.Errorf("the other webhook was changed: %s", diff)
			}
		})
	}
}

func TestFind(t *testing.T) {
	serving := admissionregistrationv1.WebhookClientConfig{
		URL:      ptr.To("https://webhook.example.com/validate"),
		CABundle: []byte("authority"),
	}
	idle := admissionregistrationv1.WebhookClientConfig{Service: &admissionregistrationv1.ServiceReference{Namespace: "n", Name: "s"}}
	broken := errors.New("etcd is on fire")
	for name, test := range map[string]struct {
		webhooks    []admissionregistrationv1.WebhookClientConfig
		absent      bool
		fails       error
		want        string // the URL
		says        string // the error
		notDeployed bool
	}{
		"the first that is served": {
			webhooks: []admissionregistrationv1.WebhookClientConfig{idle, serving}, want: "https://webhook.example.com/guard",
		},
		"no configuration": {absent: true, says: "there is no ValidatingWebhookConfiguration interlock-webhook", notDeployed: true},
		"no webhooks":      {says: "has no webhooks", notDeployed: true},
		"no CA yet":        {webhooks: []admissionregistrationv1.WebhookClientConfig{idle}, says: "has no CA yet", notDeployed: true},
		"a hub that fails": {fails: broken, says: "etcd is on fire"},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := admissionregistrationv1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: ConfigurationName}}
			for _, config := range test.webhooks {
				configuration.Webhooks = append(configuration.Webhooks, admissionregistrationv1.ValidatingWebhook{ClientConfig: config})
			}
			builder := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
				Get: func(ctx context.Context, hub client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
					if test.fails != nil {
						return test.fails
					}
					return hub.Get(ctx, key, object, options...)
				},
			})
			if !test.absent {
				builder = builder.WithObjects(configuration)
			}
			config, err := Find(t.Context(), builder.Build(), ConfigurationName, "/guard")
			if errors.Is(err, ErrNotDeployed) != test.notDeployed || (err == nil) != (test.says == "") {
				t.Fatalf("error %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %q, want %q", err, test.says)
			}
			if err == nil && ptr.Deref(config.URL, "") != test.want {
				t.Errorf("found %+v", config)
			}
		})
	}
}
