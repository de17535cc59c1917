//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8syaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/offline/kustomization"
)

const (
	namespace    = "interlock-system"
	addonManager = "interlock-addon-manager"
	webhook      = "interlock-webhook"

	images       = "interlock.test/"
	firstVersion = "e2e"
	// nextVersion differs only in the version that it reports.
	nextVersion = "e2e-next"
)

// publishedImage is an image of Interlock in the form that deploy/ names it.
var publishedImage = regexp.MustCompile(`quay\.io/open-cluster-management/interlock-([a-z-]+):[\w.]+`)

func isInstalled(ctx context.Context) bool {
	return hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: addonManager}, &appsv1.Deployment{}) == nil
}

// deploy installs Interlock in that version on the hub, with agent and graft, or upgrades it to that version, by the
// command of INTERLOCK_DEPLOY_COMMAND.
func deploy(ctx context.Context, version string) {
	GinkgoHelper()
	const variable = "INTERLOCK_DEPLOY_COMMAND"
	command := os.Getenv(variable)
	Expect(command).NotTo(BeEmpty(), "%s must hold a command that deploys Interlock: `make e2e` sets it", variable)
	environment := []string{"VERSION=" + version, "WEBHOOK_ADDRESS=" + webhookAddress(ctx)}
	execute(ctx, command, environment...)
	if address := webhookAddress(ctx); !slices.Contains(environment, "WEBHOOK_ADDRESS="+address) {
		execute(ctx, command, "VERSION="+version, "WEBHOOK_ADDRESS="+address) // the Service got its address only now
	}
}

// webhookAddress returns the address at which addon-manager reaches its webhook on a hub without DNS. It is empty on
// a hub with DNS, and while there is no Service.
func webhookAddress(ctx context.Context) string {
	GinkgoHelper()
	if os.Getenv("HUB_HAS_DNS") != "" {
		return ""
	}
	service := &corev1.Service{}
	Expect(client.IgnoreNotFound(hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: webhook}, service))).To(Succeed())
	if service.Spec.ClusterIP == "" {
		return ""
	}
	return service.Spec.ClusterIP + ":443"
}

// execute runs a command line in the environment of the program that made the clusters.
func execute(ctx context.Context, line string, environment ...string) {
	GinkgoHelper()
	command := exec.CommandContext(ctx, "bash", "-c", line)
	command.Env = append(os.Environ(), environment...)
	command.Stdout, command.Stderr = GinkgoWriter, GinkgoWriter
	Expect(command.Run()).To(Succeed(), line)
}

// kustomized returns the objects of a folder with a kustomization, with the images of a version.
func kustomized(folder, version string) []*unstructured.Unstructured {
	GinkgoHelper()
	objects, err := kustomization.Build(folder)
	Expect(err).NotTo(HaveOccurred())
	for _, object := range objects {
		original, err := object.MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		Expect(object.UnmarshalJSON(publishedImage.ReplaceAll(original, []byte(images+"$1:"+version)))).To(Succeed())
	}
	return objects
}

// manifests returns the objects of a file, after replacements in its text.
func manifests(path string, replacements ...string) []*unstructured.Unstructured {
	GinkgoHelper()
	content, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	return decode(strings.NewReader(strings.NewReplacer(replacements...).Replace(string(content))))
}

func decode(source io.Reader) []*unstructured.Unstructured {
	GinkgoHelper()
	var objects []*unstructured.Unstructured
	decoder := k8syaml.NewYAMLOrJSONDecoder(source, 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(object)
		if errors.Is(err, io.EOF) {
			return objects
		}
		Expect(err).NotTo(HaveOccurred())
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// apply applies objects like `kubectl apply --server-side`.
func apply(ctx context.Context, cluster client.Client, objects []*unstructured.Unstructured) {
	GinkgoHelper()
	for _, object := range objects {
		Eventually(func() error {
			configuration := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
			return cluster.Apply(ctx, configuration, client.FieldOwner("kubectl"), client.ForceOwnership)
		}).Should(Succeed(), "%s %s", object.GetKind(), object.GetName())
	}
}

// remove deletes objects like `kubectl delete`, and waits until they are gone.
func remove[T client.Object](ctx context.Context, cluster client.Client, objects []T) {
	GinkgoHelper()
	for _, object := range objects {
		Eventually(func() error {
			err := cluster.Delete(ctx, object.DeepCopyObject().(client.Object), client.PropagationPolicy(metav1.DeletePropagationBackground))
			if meta.IsNoMatchError(err) {
				return nil // its CRD was deleted before it
			}
			return client.IgnoreNotFound(err)
		}).Should(Succeed(), "delete %s %s", kindOf(object), object.GetName())
	}
	for _, object := range objects {
		Eventually(deleted(ctx, cluster, object)).Should(BeTrue(), "%s %s is still there", kindOf(object), object.GetName())
	}
}

func kindOf(object client.Object) string {
	return cmp.Or(object.GetObjectKind().GroupVersionKind().Kind, fmt.Sprintf("%T", object))
}

func deleted(ctx context.Context, cluster client.Client, object client.Object) func() (bool, error) {
	return func() (bool, error) {
		err := cluster.Get(ctx, client.ObjectKeyFromObject(object), object.DeepCopyObject().(client.Object))
		if meta.IsNoMatchError(err) {
			return true, nil
		}
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	}
}

// rolledOut expects the Deployment to run the desired number of ready pods, all of its present template.
func rolledOut(ctx context.Context, cluster client.Client, namespace, name string) func(Gomega) {
	return func(g Gomega) {
		deployment := &appsv1.Deployment{}
		g.Expect(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment)).To(Succeed())
		status, replicas := deployment.Status, *deployment.Spec.Replicas
		g.Expect(status.ObservedGeneration).To(Equal(deployment.Generation))
		g.Expect([]int32{status.Replicas, status.UpdatedReplicas, status.ReadyReplicas}).To(Equal([]int32{replicas, replicas, replicas}), name)
	}
}
