package deployment

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const allowDeletion = "interlock.open-cluster-management.io/allow-deletion"

// conversionObjects returns the objects without which the API server cannot convert.
func conversionObjects(ctx context.Context) []client.Object {
	GinkgoHelper()
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "interlock-webhook"}},
		&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "interlock-webhook"}},
	}
	for _, object := range objects {
		Expect(admin.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
	}
	return objects
}

func annotate(ctx context.Context, object client.Object, value string) {
	GinkgoHelper()
	body := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, allowDeletion, value)
	Expect(admin.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(body)))).To(Succeed())
}
