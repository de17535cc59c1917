package certificate

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var secretKey = types.NamespacedName{Namespace: "interlock-system", Name: "certificate"}

func secretWith(data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: secretKey.Namespace, Name: secretKey.Name}, Data: data}
}

// keeperOf returns the keeper of a replica. If the error is not nil, its writes fail with it.
func keeperOf(written error, objects ...client.Object) *Keeper {
	keeper := NewKeeper(clocktesting.NewFakePassiveClock(start), secretKey, serverName, DefaultLifetimes())
	keeper.client = fake.NewClientBuilder().WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			if written != nil {
				return written
			}
			return c.Update(ctx, object, options...)
		},
	}).Build()
	return keeper
}

func reconciled(t *testing.T, keeper *Keeper, wantErr bool) ctrl.Result {
	t.Helper()
	result, err := keeper.Reconcile(t.Context(), ctrl.Request{NamespacedName: secretKey})
	if (err != nil) != wantErr {
		t.Fatalf("error %v, want one: %t", err, wantErr)
	}
	return result
}

func TestKeeperServesWhatIsStored(t *testing.T) {
	keeper := keeperOf(nil, secretWith(nil))
	if _, err := keeper.Serving(nil); err == nil {
		t.Error("serves without a certificate")
	}
	if result := reconciled(t, keeper, false); result.RequeueAfter != 275*day {
		t.Errorf("looks again after %s", result.RequeueAfter)
	}
	<-keeper.Certified()
	serving, err := keeper.Serving(nil)
	if err != nil || serving.Leaf.DNSNames[0] != serverName {
		t.Fatalf("serves %+v, %v", serving, err)
	}

	var stored corev1.Secret
	if err := keeper.client.Get(t.Context(), secretKey, &stored); err != nil {
		t.Fatal(err)
	}
	second := keeperOf(errors.New("nothing is to be written"), secretWith(stored.Data))
	reconciled(t, second, false)
	if served, err := second.Serving(nil); err != nil || !served.Leaf.Equal(serving.Leaf) {
		t.Errorf("the second replica serves %+v, %v", served, err)
	}
}

func TestKeeperKeepsServingWhatCannotBeReplaced(t *testing.T) {
	fresh, _, _ := renewAt(t, nil, start)
	for name, written := range map[string]error{
		"another replica was first": apierrors.NewConflict(schema.GroupResource{Resource: "secrets"}, secretKey.Name, errors.New("changed")),
		"the API server is away":    errors.New("connection refused"),
	} {
		t.Run(name, func(t *testing.T) {
			keeper := keeperOf(written, secretWith(fresh))
			reconciled(t, keeper, false)
			former, _ := keeper.Serving(nil)

			spoilt := maps.Clone(fresh)
			spoil("tls.crt")(spoilt)
			keeper.client = keeperOf(written, secretWith(spoilt)).client
			result := reconciled(t, keeper, !apierrors.IsConflict(written))
			if apierrors.IsConflict(written) && result.RequeueAfter != time.Second {
				t.Errorf("tries again after %s", result.RequeueAfter)
			}
			if current, err := keeper.Serving(nil); err != nil || current != former {
				t.Errorf("serves something else: %v", err)
			}
		})
	}
}

func TestKeeperMakesNoSecret(t *testing.T) {
	missing := keeperOf(errors.New("nothing is to be written"))
	if result := reconciled(t, missing, false); result != (ctrl.Result{}) {
		t.Errorf("%+v", result)
	}
}

// The clocks of two replicas disagree by more than certificates are backdated. The replica
// that is behind finds the certificate of the other not valid yet, and makes its own. The
// replica ahead uses the new one, so they do not replace it again and again.
func TestClocksThatDisagree(t *testing.T) {
	for _, behind := range []time.Duration{backdated / 2, 2 * backdated, 30 * day} {
		t.Run(behind.String(), func(t *testing.T) {
			ahead, _, _ := renewAt(t, nil, start)
			own, _, _ := renewAt(t, ahead, start.Add(-behind))
			if content := read(own, serverName, start.Add(-behind)); content.serving == nil || content.authority == nil {
				t.Fatalf("the replica behind has %+v", content)
			}
			if _, steps, _ := renewAt(t, own, start); len(steps) > 0 {
				t.Errorf("the replica ahead takes the steps %v", steps)
			}
		})
	}
}

// The webhook may not create the Secret. Without a log line, an operator would
// notice the deletion at the next start.
func TestKeeperLogsThatTheSecretWasDeleted(t *testing.T) {
	var logged []string
	ctx := ctrl.LoggerInto(t.Context(), funcr.New(func(_, line string) { logged = append(logged, line) }, funcr.Options{}))
	fresh, _, _ := renewAt(t, nil, start)
	keeper := keeperOf(nil, secretWith(fresh))
	reconciled(t, keeper, false)
	serving, _ := keeper.Serving(nil)
	keeper.client = keeperOf(nil).client
	if _, err := keeper.Reconcile(ctx, ctrl.Request{NamespacedName: secretKey}); err != nil {
		t.Fatal(err)
	}
	if current, err := keeper.Serving(nil); err != nil || current != serving {
		t.Errorf("serves something else: %v", err)
	}
	if len(logged) != 1 || !strings.Contains(logged[0], secretKey.Name) || !strings.Contains(logged[0], "was deleted") {
		t.Errorf("logged %q", logged)
	}
}
