package smoketest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// hub returns a hub whose leader renews its lease at each read, and whose API server answers a creation with an error.
func hub(t *testing.T, renews bool, creation error) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(coordinationv1.AddToScheme(scheme), addonv1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	renewed := time.Unix(1000, 0)
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "interlock-system", Name: "interlock-addon-manager"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("pod-a"), RenewTime: ptr.To(metav1.NewMicroTime(renewed))},
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(lease).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, hub client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			err := hub.Get(ctx, key, object, options...)
			if lease, ok := object.(*coordinationv1.Lease); ok && err == nil && renews {
				renewed = renewed.Add(time.Second)
				lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(renewed))
			}
			return err
		},
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, options ...client.CreateOption) error {
			applied := client.CreateOptions{}
			applied.ApplyOptions(options)
			if len(applied.DryRun) == 0 {
				t.Errorf("%s is created, not as a dry run", object.GetName())
			}
			return creation
		},
	}).Build()
}

func TestASmokeTestNamesWhatDoesNotWork(t *testing.T) {
	resource := schema.GroupResource{Resource: "clustermanagementaddons"}
	denied := apierrors.NewForbidden(resource, addOnName, errors.New(`admission webhook "`+webhookName+`" denied the request`))
	for name, test := range map[string]struct {
		renews    bool
		creation  error
		namespace string
		want      string
	}{
		"all works": {true, denied, "interlock-system", ""},
		"a leader that has stopped": {
			false, denied, "interlock-system", "pod-a does not renew the lease interlock-system/interlock-addon-manager",
		},
		"no lease":                     {true, denied, "elsewhere", "read the lease elsewhere/interlock-addon-manager"},
		"a webhook that is not called": {true, nil, "interlock-system", "does not reach the webhook"},
		"a missing right": {
			true, apierrors.NewForbidden(resource, addOnName, errors.New("no right")), "interlock-system", "as a dry run: clustermanagementaddons",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				err := run(t.Context(), hub(t, test.renews, test.creation), Options{LeaseNamespace: test.namespace, Timeout: time.Minute, Out: &out})
				switch {
				case test.want == "" && (err != nil || strings.Count(out.String(), "\n") != 2):
					t.Errorf("%v\n%s", err, &out)
				case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "after 1m0s: ")):
					t.Errorf("error %v does not say %q", err, test.want)
				}
			})
		})
	}
}
