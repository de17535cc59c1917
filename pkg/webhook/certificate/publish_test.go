package certificate

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"open-cluster-management.io/interlock/pkg/names"
)

func configMapWith(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: secretKey.Namespace, Name: names.WebhookCA}, Data: data}
}

// published returns the data of the ConfigMap.
func published(t *testing.T, hub client.Client) map[string]string {
	t.Helper()
	got := configMapWith(nil)
	if err := hub.Get(t.Context(), client.ObjectKeyFromObject(got), got); err != nil {
		t.Fatal(err)
	}
	return got.Data
}

func TestTheCAIsPublished(t *testing.T) {
	fresh, _, _ := renewAt(t, nil, start)
	foreign, _, _ := renewAt(t, nil, start)
	overlapping, _, _ := renewAt(t, map[string][]byte{
		BundleKey: fresh[BundleKey], "tls.crt": fresh["tls.crt"], "tls.key": fresh["tls.key"],
	}, start)
	commented := map[string][]byte{
		BundleKey: append([]byte("# by hand\n"), fresh[BundleKey]...), "ca.key": fresh["ca.key"],
		"tls.crt": fresh["tls.crt"], "tls.key": fresh["tls.key"],
	}
	ca := func(secret map[string][]byte) map[string]string {
		return map[string]string{BundleKey: string(secret[BundleKey])}
	}
	conflict := apierrors.NewConflict(schema.GroupResource{}, names.WebhookCA, errors.New("changed"))
	for _, test := range []struct {
		name    string
		data    map[string]string
		secret  map[string][]byte
		written error
		want    map[string]string
		writes  int
		fails   bool
	}{
		{name: "none yet", secret: fresh, want: ca(fresh), writes: 1},
		{name: "another", data: ca(foreign), secret: fresh, want: ca(fresh), writes: 1},
		{name: "the same: no write", data: ca(fresh), secret: fresh, want: ca(fresh)},
		{name: "two during a renewal", data: ca(fresh), secret: overlapping, want: ca(overlapping), writes: 1},
		{name: "certificates only", secret: commented, want: ca(fresh), writes: 1},
		{name: "another replica was first", secret: fresh, writes: 1, written: conflict},
		{name: "the API server is away", secret: fresh, written: errors.New("connection refused"), writes: 1, fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			writes := 0
			keeper := keeperOf(nil)
			keeper.client = fake.NewClientBuilder().WithObjects(secretWith(test.secret), configMapWith(test.data)).
				WithInterceptorFuncs(interceptor.Funcs{
					Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
						writes++
						if test.written != nil {
							return test.written
						}
						return c.Update(ctx, object, options...)
					},
				}).Build()
			reconciled(t, keeper, test.fails)
			if writes != test.writes {
				t.Errorf("%d writes, want %d", writes, test.writes)
			}
			if diff := cmp.Diff(test.want, published(t, keeper.client)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// No private key leaves the Secret, even if the CA in the Secret is invalid.
func TestOnlyTheCAIsPublished(t *testing.T) {
	for _, data := range []map[string][]byte{nil, {BundleKey: []byte("x")}} {
		keeper := keeperOf(nil, secretWith(data), configMapWith(map[string]string{"tls.key": "left", BundleKey: "left"}))
		reconciled(t, keeper, false)
		var stored corev1.Secret
		if err := keeper.client.Get(t.Context(), secretKey, &stored); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{BundleKey: string(stored.Data[BundleKey])}, published(t, keeper.client)); diff != "" {
			t.Error(diff)
		}
	}
}

// While another writer keeps changing the ConfigMap, each replica writes once a second.
func TestTheCAIsPublishedAtMostOnceASecond(t *testing.T) {
	fresh, _, _ := renewAt(t, nil, start)
	clock := clocktesting.NewFakePassiveClock(start)
	keeper := NewKeeper(clock, secretKey, serverName, DefaultLifetimes())
	keeper.client = fake.NewClientBuilder().WithObjects(secretWith(fresh), configMapWith(nil)).Build()
	for step, want := range []struct {
		elapsed   time.Duration
		published bool
		retry     time.Duration
	}{
		{0, true, 275 * day},
		{time.Second / 4, false, 3 * time.Second / 4},
		{time.Second, true, 275*day - time.Second},
		{time.Second, false, time.Second},
	} {
		insisted := configMapWith(map[string]string{BundleKey: "another"})
		if err := keeper.client.Update(t.Context(), insisted); err != nil {
			t.Fatal(err)
		}
		clock.SetTime(start.Add(want.elapsed))
		if result := reconciled(t, keeper, false); result.RequeueAfter != want.retry {
			t.Errorf("step %d: looks again after %s, want %s", step, result.RequeueAfter, want.retry)
		}
		if got := published(t, keeper.client)[BundleKey] == string(fresh[BundleKey]); got != want.published {
			t.Errorf("step %d: published %t", step, got)
		}
	}
}

// The webhook may not create the ConfigMap. It serves without it, and logs its name.
func TestKeeperLogsThatTheConfigMapIsMissing(t *testing.T) {
	var logged []string
	ctx := ctrl.LoggerInto(t.Context(), funcr.New(func(_, line string) { logged = append(logged, line) }, funcr.Options{}))
	fresh, _, _ := renewAt(t, nil, start)
	keeper := keeperOf(errors.New("nothing is to be written"), secretWith(fresh))
	if result, err := keeper.Reconcile(ctx, ctrl.Request{}); err != nil || result.RequeueAfter != 275*day {
		t.Errorf("again after %s, error %v", result.RequeueAfter, err)
	}
	if _, err := keeper.Serving(nil); err != nil {
		t.Error(err)
	}
	if len(logged) != 1 || !strings.Contains(logged[0], names.WebhookCA) {
		t.Errorf("logged %q", logged)
	}
}
