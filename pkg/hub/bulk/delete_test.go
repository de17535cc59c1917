package bulk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

var configMap = corev1.SchemeGroupVersion.WithKind("ConfigMap")

func TestDelete(t *testing.T) {
	for name, test := range map[string]struct {
		objects int
		refuse  string // the object whose deletion fails
		failure string
	}{
		"none":              {},
		"more than at once": {objects: 3 * WritesAtATime},
		"one is refused":    {objects: 40, refuse: "config-7", failure: "delete ConfigMap default/config-7: refused"},
	} {
		t.Run(name, func(t *testing.T) {
			hub := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
				Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
					if object.GetName() == test.refuse {
						return errors.New("refused")
					}
					return c.Delete(ctx, object, options...)
				},
			})
			for i := range test.objects {
				hub.WithObjects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("config-%d", i)}})
			}
			c := hub.Build()
			deleted, err := Delete(t.Context(), c, c, configMap, client.ListOptions{})
			remaining := &corev1.ConfigMapList{}
			if listed := c.List(t.Context(), remaining); listed != nil {
				t.Fatal(listed)
			}
			if deleted+len(remaining.Items) != test.objects {
				t.Errorf("of %d, %d deleted and %d left", test.objects, deleted, len(remaining.Items))
			}
			if test.failure == "" && (err != nil || len(remaining.Items) > 0) {
				t.Errorf("%d left, %v", len(remaining.Items), err)
			}
			if test.failure != "" && (err == nil || !strings.Contains(err.Error(), test.failure)) {
				t.Errorf("error %v, want %q", err, test.failure)
			}
		})
	}
}
