package graft

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	versionutil "k8s.io/apimachinery/pkg/util/version"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/crdgraft"
	"open-cluster-management.io/interlock/pkg/hub/graft"
)

// The CRDs as the api module ships them.
const (
	v1alpha1File            = "addon/v1alpha1/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml"
	v1beta1File             = "addon/v1beta1/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml"
	managedClusterAddOnFile = "addon/v1beta1/0000_01_addon.open-cluster-management.io_managedclusteraddons.crd.yaml"
	managedClusterFile      = "cluster/v1/0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml"
)

func stock(file string) *unstructured.Unstructured {
	GinkgoHelper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "open-cluster-management.io/api").Output()
	Expect(err).NotTo(HaveOccurred())
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), filepath.FromSlash(file)))
	Expect(err).NotTo(HaveOccurred())
	encoded, err := yaml.YAMLToJSON(raw)
	Expect(err).NotTo(HaveOccurred())
	crd := &unstructured.Unstructured{}
	Expect(crd.UnmarshalJSON(encoded)).To(Succeed())
	unstructured.RemoveNestedField(crd.Object, "status")
	return crd
}

// operator stands in for OCM's cluster-manager operator, which writes the CRD
// as it ships it unless the annotation says that a newer one did.
type operator struct {
	version string
	crd     *unstructured.Unstructured
}

// newOperator ships the file with its conversion pointing to OCM's webhook.
func newOperator(version, file string, change ...func(*unstructured.Unstructured)) *operator {
	GinkgoHelper()
	crd := stock(file)
	if file == v1beta1File {
		Expect(unstructured.SetNestedMap(crd.Object, ocm.stanza(), "spec", "conversion")).To(Succeed())
	}
	for _, apply := range change {
		apply(crd)
	}
	return &operator{version: version, crd: crd}
}

// reconcile does what the operator does once, and reports whether it wrote.
func (o *operator) reconcile(ctx context.Context) bool {
	GinkgoHelper()
	wrote := false
	Eventually(func() (err error) {
		wrote, err = o.try(ctx)
		return err
	}).Should(Succeed())
	return wrote
}

func (o *operator) try(ctx context.Context) (wrote bool, err error) {
	existing := readCRD()
	err = admin.Get(ctx, client.ObjectKeyFromObject(existing), existing)
	if apierrors.IsNotFound(err) {
		return true, admin.Create(ctx, o.crd.DeepCopy()) // without the annotation, as the operator does
	}
	if err != nil {
		return false, err
	}
	mine := versionutil.MustParseGeneric(o.version)
	if written := existing.GetAnnotations()[crdgraft.VersionAnnotation]; written != "" {
		order, err := mine.Compare(written)
		if err != nil || order < 0 || order == 0 && o.sameSpec(existing) {
			return false, err
		}
	}
	return true, o.force(ctx, existing.GetResourceVersion())
}

// force writes the CRD whatever is there. All metadata but its own goes.
func (o *operator) force(ctx context.Context, resourceVersion string) error {
	required := o.crd.DeepCopy()
	annotations := maps.Clone(required.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[crdgraft.VersionAnnotation] = versionutil.MustParseGeneric(o.version).String()
	required.SetAnnotations(annotations)
	required.SetResourceVersion(resourceVersion)
	return admin.Update(ctx, required, client.FieldOwner("operator"))
}

func (o *operator) sameSpec(existing *unstructured.Unstructured) bool {
	required := o.crd.DeepCopy()
	unstructured.RemoveNestedField(required.Object, "spec", "preserveUnknownFields") // false is not stored
	if _, has, _ := unstructured.NestedMap(required.Object, "spec", "conversion"); !has {
		Expect(unstructured.SetNestedField(required.Object, "None", "spec", "conversion", "strategy")).To(Succeed())
	}
	return equality.Semantic.DeepEqual(existing.Object["spec"], required.Object["spec"])
}

// readCRD names the CRD to a client.
func readCRD() *unstructured.Unstructured {
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	crd.SetName(graft.CRDName)
	return crd
}

// converter stands in for OCM's conversion webhook: it converts by Go types
// that do not know Interlock's fields.
type converter struct{ server *httptest.Server }

func startConverter() *converter {
	c := &converter{server: httptest.NewTLSServer(http.HandlerFunc(convertReview))}
	DeferCleanup(c.server.Close)
	return c
}

func (c *converter) stanza() map[string]any {
	GinkgoHelper()
	url := c.server.URL + "/convert"
	stanza, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{
			ConversionReviewVersions: []string{"v1", "v1beta1"},
			ClientConfig: &apiextensionsv1.WebhookClientConfig{
				URL: &url, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.server.Certificate().Raw}),
			},
		},
	})
	Expect(err).NotTo(HaveOccurred())
	return stanza
}

func convertReview(writer http.ResponseWriter, request *http.Request) {
	review := &apiextensionsv1.ConversionReview{}
	if err := json.NewDecoder(request.Body).Decode(review); err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, object := range review.Request.Objects {
		converted, err := convertByTypes(object.Raw, review.Request.DesiredAPIVersion)
		if err != nil {
			review.Response.Result = metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
			break
		}
		review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: converted})
	}
	review.Request = nil
	_ = json.NewEncoder(writer).Encode(review)
}

func convertByTypes(raw []byte, desired string) (runtime.Object, error) {
	alpha, beta := &ocmv1alpha1.ClusterManagementAddOn{}, &ocmv1beta1.ClusterManagementAddOn{}
	if strings.HasSuffix(desired, "v1beta1") {
		if err := json.Unmarshal(raw, alpha); err != nil {
			return nil, err
		}
		err := ocmv1beta1.Convert_v1alpha1_ClusterManagementAddOn_To_v1beta1_ClusterManagementAddOn(alpha, beta, nil)
		beta.APIVersion, beta.Kind = desired, "ClusterManagementAddOn"
		return beta, err
	}
	if err := json.Unmarshal(raw, beta); err != nil {
		return nil, err
	}
	err := ocmv1beta1.Convert_v1beta1_ClusterManagementAddOn_To_v1alpha1_ClusterManagementAddOn(beta, alpha, nil)
	alpha.APIVersion, alpha.Kind = desired, "ClusterManagementAddOn"
	return alpha, err
}

// insist overwrites the CRD whenever it is grafted, mark or no mark, until the
// spec ends; the function returns how often it has.
func (o *operator) insist() (times func() int) {
	ctx, cancel := context.WithCancel(context.Background())
	ended, count := make(chan struct{}), make(chan int, 1)
	count <- 0
	go func() {
		defer close(ended)
		for ticker := time.NewTicker(20 * time.Millisecond); ctx.Err() == nil; <-ticker.C {
			existing := readCRD()
			if admin.Get(ctx, client.ObjectKeyFromObject(existing), existing) == nil && crdgraft.Grafted(existing.Object) &&
				o.force(ctx, existing.GetResourceVersion()) == nil {
				count <- <-count + 1
			}
		}
	}()
	DeferCleanup(func() { cancel(); <-ended })
	return func() int { n := <-count; count <- n; return n }
}
