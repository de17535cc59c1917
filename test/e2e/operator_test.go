//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	interlockfleet "open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

// operator is the Deployment of OCM's operator on the hub.
var operator = client.ObjectKey{Namespace: "open-cluster-management", Name: "cluster-manager"}

const declarations = 20

func describeOperatorUpgrade() {
	// Some 100 ms pass between the operator's write of the CRD and the next graft. A write through v1beta1 in that
	// time deletes the field. addon-manager restores the field from its record.
	It("keeps the graft and all declarations when OCM's operator is upgraded while others write through v1beta1", func(ctx context.Context) {
		names := declare(ctx)
		writes := keepRequesting(ctx, func(ctx context.Context) error { return touchAll(ctx, names) })
		DeferCleanup(writes.stop)
		upgradeOperator(ctx)
		writes.awaitMore()
		writes.stop()
		Expect(writes.failures).To(BeEmpty(), "writes through v1beta1")
		Eventually(func() []string { return lost(ctx, names) }).Should(BeEmpty(), "declarations that were lost")
		Consistently(expectGrafted(ctx)).WithTimeout(20 * time.Second).Should(Succeed())
		Expect(lost(ctx, names)).To(BeEmpty())
	})
}

// upgradeOperator gives the operator the image that OCM_OPERATOR names, and waits
// until it has rewritten OCM's CRDs and the graft is back.
func upgradeOperator(ctx context.Context) {
	GinkgoHelper()
	image := os.Getenv("OCM_OPERATOR")
	if image == "" {
		Skip("OCM_OPERATOR does not name the image of another version of OCM's operator")
	}
	grafted := versionOf(ctx, registrationsCRD)
	setOperatorImage(ctx, image)
	next := strings.TrimPrefix(os.Getenv("OCM_NEXT_VERSION"), "v")
	Eventually(func() string { return versionOf(ctx, interlockfleet.OCMVersionCRD) }).WithTimeout(5*time.Minute).Should(Equal(next),
		"the new operator writes its version to OCM's CRDs")
	Eventually(func() string { return versionOf(ctx, registrationsCRD) }).ShouldNot(BeElementOf(grafted, next),
		"the graft marks the CRD with a version above that of the new operator")
	Eventually(expectGrafted(ctx)).Should(Succeed())
	Eventually(rolledOut(ctx, hub, operator.Namespace, operator.Name)).WithTimeout(5 * time.Minute).Should(Succeed())
}

// declare registers add-ons with dependencies for the rest of the spec.
func declare(ctx context.Context) []string {
	GinkgoHelper()
	var names []string
	var registrations []client.Object
	for i := range declarations {
		name := fmt.Sprintf("declared-%d", i)
		register(ctx, name, "dependency")
		names = append(names, name)
		registrations = append(registrations, &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	DeferCleanup(func(ctx context.Context) { remove(ctx, hub, registrations) })
	return names
}

// touchAll writes each registration through v1beta1, like OCM's own controllers.
func touchAll(ctx context.Context, names []string) error {
	for _, name := range names {
		registration := &ocmv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"written":%q}}}`, time.Now())
		if err := hub.Patch(ctx, registration, client.RawPatch(types.MergePatchType, patch)); err != nil {
			return fmt.Errorf("write %s through v1beta1: %w", name, err)
		}
	}
	return nil
}

// lost returns the names of registrations whose dependency is no longer declared.
func lost(ctx context.Context, names []string) []string {
	GinkgoHelper()
	var undeclared []string
	for _, name := range names {
		registration := &addonv1alpha1.ClusterManagementAddOn{}
		Expect(hub.Get(ctx, client.ObjectKey{Name: name}, registration)).To(Succeed())
		if len(registration.Spec.Dependencies) != 1 {
			undeclared = append(undeclared, name)
		}
	}
	return undeclared
}

// versionOf returns the version in the annotation of a CRD.
func versionOf(ctx context.Context, crd string) string {
	GinkgoHelper()
	object := &apiextensionsv1.CustomResourceDefinition{}
	Expect(hub.Get(ctx, client.ObjectKey{Name: crd}, object)).To(Succeed())
	return object.Annotations[names.OCMVersion]
}

func setOperatorImage(ctx context.Context, image string) {
	GinkgoHelper()
	deployment := &appsv1.Deployment{}
	Expect(hub.Get(ctx, operator, deployment)).To(Succeed())
	original := deployment.DeepCopy()
	deployment.Spec.Template.Spec.Containers[0].Image = image
	Expect(hub.Patch(ctx, deployment, client.MergeFrom(original))).To(Succeed())
}

// isOperator reports whether an object is part of the operator's Deployment.
func isOperator(object *unstructured.Unstructured) bool {
	return object.GetNamespace() == operator.Namespace && object.GetLabels()["app"] == operator.Name
}

// withoutStamp removes the version of either operator from a CRD, and no other version.
func withoutStamp(crd *unstructured.Unstructured) {
	annotations := crd.GetAnnotations()
	for _, variable := range []string{"OCM_VERSION", "OCM_NEXT_VERSION"} {
		if stamp := strings.TrimPrefix(os.Getenv(variable), "v"); annotations[names.OCMVersion] == stamp {
			delete(annotations, names.OCMVersion)
		}
	}
	crd.SetAnnotations(annotations)
}
