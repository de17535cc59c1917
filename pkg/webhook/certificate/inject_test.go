package certificate

import (
	"context"
	"errors"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

const configurationName = "interlock-webhook"

func configured(bundles ...[]byte) *admissionregistrationv1.ValidatingWebhookConfiguration {
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: configurationName}}
	for _, bundle := range bundles {
		configuration.Webhooks = append(configuration.Webhooks, admissionregistrationv1.ValidatingWebhook{
			ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: bundle},
		})
	}
	return configuration
}

func TestTheCAIsInjected(t *testing.T) {
	fresh, _, _ := renewAt(t, nil, start)
	other, _, _ := renewAt(t, nil, start)
	for _, test := range []struct {
		name    string
		before  []byte
		secret  map[string][]byte
		written error
		want    []byte
		writes  int
		fails   bool
	}{
		{name: "none yet", secret: fresh, want: fresh[BundleKey], writes: 1},
		{name: "another", before: other[BundleKey], secret: fresh, want: fresh[BundleKey], writes: 1},
		{name: "the same: no write", before: fresh[BundleKey], secret: fresh, want: fresh[BundleKey]},
		{name: "nonsense in the Secret", before: []byte("x"), secret: map[string][]byte{BundleKey: []byte("x")}, writes: 2},
		{
			name: "another replica was first", secret: fresh, writes: 1,
			written: apierrors.NewConflict(schema.GroupResource{}, "interlock-webhook", errors.New("changed")),
		},
		{name: "the API server is away", secret: fresh, written: errors.New("connection refused"), writes: 1, fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			writes := 0
			c := fake.NewClientBuilder().
				WithObjects(secretWith(test.secret), configured(test.before, test.before)).
				WithInterceptorFuncs(interceptor.Funcs{
					Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
						writes++
						if test.written != nil {
							return test.written
						}
						return c.Update(ctx, object, options...)
					},
				}).
				Build()
			keeper := keeperOf(nil)
			keeper.client = c
			_, err := keeper.Reconcile(t.Context(), ctrl.Request{})
			if (err != nil) != test.fails || writes != test.writes {
				t.Errorf("error %v after %d writes, want %d", err, writes, test.writes)
			}
			got := configured()
			if err := c.Get(t.Context(), client.ObjectKey{Name: configurationName}, got); err != nil {
				t.Fatal(err)
			}
			want := test.want
			if want == nil && test.written == nil { // that of the renewed Secret
				var stored corev1.Secret
				if err := c.Get(t.Context(), secretKey, &stored); err != nil {
					t.Fatal(err)
				}
				want = stored.Data[BundleKey]
			}
			for i := range got.Webhooks {
				if string(got.Webhooks[i].ClientConfig.CABundle) != string(want) {
					t.Errorf("webhook %d trusts %q", i, got.Webhooks[i].ClientConfig.CABundle)
				}
			}
		})
	}
}

// Where another writer keeps injecting another CA, each replica writes once a second.
func TestTheCAIsInjectedAtMostOnceASecond(t *testing.T) {
	fresh, _, _ := renewAt(t, nil, start)
	c := fake.NewClientBuilder().WithObjects(secretWith(fresh), configured(nil)).Build()
	clock := clocktesting.NewFakePassiveClock(start)
	keeper := NewKeeper(clock, secretKey, configurationName, serverName, DefaultLifetimes())
	keeper.client = c
	name := client.ObjectKey{Name: configurationName}
	for step, want := range []struct {
		at       time.Duration
		injected bool
		again    time.Duration
	}{
		{0, true, 275 * day},
		{time.Second / 4, false, 3 * time.Second / 4},
		{time.Second, true, 275*day - time.Second},
		{time.Second, false, time.Second},
	} {
		insisted := configured()
		if err := c.Get(t.Context(), name, insisted); err != nil {
			t.Fatal(err)
		}
		insisted.Webhooks[0].ClientConfig.CABundle = []byte("another")
		if err := c.Update(t.Context(), insisted); err != nil {
			t.Fatal(err)
		}
		clock.SetTime(start.Add(want.at))
		result, err := keeper.Reconcile(t.Context(), ctrl.Request{})
		if err != nil || result.RequeueAfter != want.again {
			t.Errorf("step %d: looks again after %s, want %s; error %v", step, result.RequeueAfter, want.again, err)
		}
		got := configured()
		if err := c.Get(t.Context(), name, got); err != nil {
			t.Fatal(err)
		}
		if injected := string(got.Webhooks[0].ClientConfig.CABundle) == string(fresh[BundleKey]); injected != want.injected {
			t.Errorf("step %d: injected %t", step, injected)
		}
	}
}

func TestTheCAIsInjectedIntoBothConfigurations(t *testing.T) {
	fresh, _, _ := renewAt(t, nil, start)
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: configurationName}, Webhooks: []admissionregistrationv1.MutatingWebhook{{}, {}},
	}
	keeper := keeperOf(nil)
	keeper.client = fake.NewClientBuilder().WithObjects(secretWith(fresh), configured(nil), mutating).Build()
	if result, err := keeper.Reconcile(t.Context(), ctrl.Request{}); err != nil || result.RequeueAfter < time.Hour {
		t.Fatalf("again after %s, error %v", result.RequeueAfter, err)
	}
	validating := configured()
	for _, object := range []client.Object{validating, mutating} {
		if err := keeper.client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatal(err)
		}
	}
	for _, got := range [][]byte{
		validating.Webhooks[0].ClientConfig.CABundle, mutating.Webhooks[0].ClientConfig.CABundle, mutating.Webhooks[1].ClientConfig.CABundle,
	} {
		if string(got) != string(fresh[BundleKey]) {
			t.Errorf("CA %q", got)
		}
	}
}
