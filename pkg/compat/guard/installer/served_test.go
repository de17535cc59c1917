package installer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/ptr"
)

func TestPlaceBesideAnotherWebhook(t *testing.T) {
	service := func(path string) *admissionregistrationv1.ServiceReference {
		return &admissionregistrationv1.ServiceReference{Namespace: "interlock-system", Name: "webhook", Path: &path, Port: ptr.To(int32(8443))}
	}
	for _, test := range []struct {
		name        string
		other, want admissionregistrationv1.WebhookClientConfig
		none, fails bool
	}{
		{
			name:  "a Service",
			other: admissionregistrationv1.WebhookClientConfig{Service: service("/validate"), CABundle: []byte("authority")},
			want:  admissionregistrationv1.WebhookClientConfig{Service: service("/guard"), CABundle: []byte("authority")},
		},
		{name: "a Service that has not run", other: admissionregistrationv1.WebhookClientConfig{Service: service("/validate")}, none: true},
		{
			name:  "an address",
			other: admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://webhook.example.com:8443/validate?x=y"), CABundle: []byte("authority")},
			want:  admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://webhook.example.com:8443/guard"), CABundle: []byte("authority")},
		},
		{
			name:  "an address that needs no CA",
			other: admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://webhook.example.com")},
			want:  admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://webhook.example.com/guard")},
		},
		{name: "no address", other: admissionregistrationv1.WebhookClientConfig{URL: ptr.To("https://[")}, fails: true},
		{name: "nothing", none: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := test.other.DeepCopy()
			got, err := Served{Path: "/guard"}.beside(test.other)
			if (err != nil) != test.fails {
				t.Fatal(err)
			}
			if test.none || test.fails {
				if got != nil {
					t.Errorf("%+v", got)
				}
			} else if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, &test.other); diff != "" {
				t.Errorf("the other webhook was changed: %s", diff)
			}
		})
	}
}
