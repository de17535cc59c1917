package planned

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestWhichPlacementsDoNotExist(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := clusterv1beta1.Install(scheme); err != nil {
		t.Fatal(err)
	}
	reads := 0
	hub := fake.NewClientBuilder().WithScheme(scheme).
		WithObjects(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "places", Name: "edge"}}).
		WithInterceptorFuncs(interceptor.Funcs{Get: func(
			ctx context.Context, hub client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption,
		) error {
			if reads++; key.Namespace == "secret" {
				return errors.New("you may not get placements")
			}
			return hub.Get(ctx, key, into, options...)
		}}).Build()
	onHub, onFile := &Options{Hub: hub}, &Options{}
	for _, test := range []struct {
		name      string
		options   *Options
		placement types.NamespacedName
		want      bool
	}{
		{"there", onHub, types.NamespacedName{Namespace: "places", Name: "edge"}, false},
		{"not there", onHub, types.NamespacedName{Namespace: "places", Name: "west"}, true},
		{"not there, for another managed cluster", onHub, types.NamespacedName{Namespace: "places", Name: "west"}, true},
		{"not to be read", onHub, types.NamespacedName{Namespace: "secret", Name: "west"}, false},
		{"in a file", onFile, types.NamespacedName{Namespace: "places", Name: "west"}, false},
	} {
		if got := test.options.absent(t.Context(), test.placement); got != test.want {
			t.Errorf("%s: got %t", test.name, got)
		}
	}
	if reads != 3 {
		t.Errorf("%d reads", reads)
	}
}
