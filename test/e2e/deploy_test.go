//go:build e2e

package e2e

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	k8syaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const (
	namespace    = "interlock-system"
	addonManager = "interlock-addon-manager"
	webhook      = "interlock-webhook"

	images       = "interlock.test/"
	firstVersion = "e2e"

	publishedImage = "quay.io/open-cluster-management/interlock-"
)

func isInstalled(ctx context.Context) bool {
	return hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: addonManager}, &appsv1.Deployment{}) == nil
}

// interlock is deploy/hub in that version, told to install the agent and to
// graft the CRD, with the rights that deploy/hub has for it.
func interlock(version string) []*unstructured.Unstructured {
	GinkgoHelper()
	objects := kustomized("hub", version)
	for _, file := range []string{"agent-clusterrole.yaml", "agent-hub-clusterrole.yaml"} {
		objects = addMissing(objects, manifests("../../deploy/hub/"+file)...)
	}
	binding := &rbacv1.ClusterRoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRoleBinding"},
		ObjectMeta: metav1.ObjectMeta{Name: "interlock-addon-manager-agent"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "interlock-addon-manager-agent"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: addonManager}},
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(binding)
	Expect(err).NotTo(HaveOccurred())
	objects = addMissing(objects, &unstructured.Unstructured{Object: content})
	for _, object := range objects {
		if object.GetKind() == "Deployment" && object.GetName() == addonManager {
			addArguments(object, "--install-agent", "--agent-image="+images+"addon-agent:"+firstVersion, "--graft-crds")
		}
	}
	return objects
}

// deploy applies interlock on the hub. A real node has no DNS, so addon-manager
// is told where its webhook's Service is.
func deploy(ctx context.Context, version string) {
	GinkgoHelper()
	objects := interlock(version)
	isDeployment := func(object *unstructured.Unstructured) bool { return object.GetKind() == "Deployment" }
	apply(ctx, hub, slices.DeleteFunc(slices.Clone(objects), isDeployment))
	service := &corev1.Service{}
	Expect(hub.Get(ctx, client.ObjectKey{Namespace: namespace, Name: webhook}, service)).To(Succeed())
	deployments := slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool { return !isDeployment(object) })
	for _, deployment := range deployments {
		if deployment.GetName() == addonManager {
			addArguments(deployment, "--webhook-address="+service.Spec.ClusterIP+":443")
		}
	}
	apply(ctx, hub, deployments)
}

func addMissing(objects []*unstructured.Unstructured, further ...*unstructured.Unstructured) []*unstructured.Unstructured {
	for _, object := range further {
		found := false
		for _, known := range objects {
			found = found || known.GetKind() == object.GetKind() && known.GetName() == object.GetName()
		}
		if !found {
			objects = append(objects, object)
		}
	}
	return objects
}

func addArguments(deployment *unstructured.Unstructured, arguments ...string) {
	GinkgoHelper()
	containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	Expect(err).NotTo(HaveOccurred())
	container := containers[0].(map[string]any)
	for _, argument := range arguments {
		container["args"] = append(container["args"].([]any), argument)
	}
	Expect(unstructured.SetNestedSlice(deployment.Object, containers, "spec", "template", "spec", "containers")).To(Succeed())
}

// kustomized are the objects of a folder of deploy/, with the images of a version.
func kustomized(folder, version string) []*unstructured.Unstructured {
	GinkgoHelper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "../../deploy/"+folder)
	Expect(err).NotTo(HaveOccurred())
	content, err := built.AsYaml()
	Expect(err).NotTo(HaveOccurred())
	lines := strings.Split(string(content), "\n")
	for i, line := range lines {
		if before, image, ok := strings.Cut(line, "image: "+publishedImage); ok {
			name, _, _ := strings.Cut(image, ":")
			lines[i] = before + "image: " + images + name + ":" + version
		}
	}
	return decode(strings.NewReader(strings.Join(lines, "\n")))
}

// manifests are the objects of a file, after replacements in its text.
func manifests(path string, replacements ...string) []*unstructured.Unstructured {
	GinkgoHelper()
	content, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	return decode(strings.NewReader(strings.NewReplacer(replacements...).Replace(string(content))))
}

func decode(from io.Reader) []*unstructured.Unstructured {
	GinkgoHelper()
	var objects []*unstructured.Unstructured
	decoder := k8syaml.NewYAMLOrJSONDecoder(from, 4096)
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

// apply applies as `kubectl apply --server-side` does.
func apply(ctx context.Context, to client.Client, objects []*unstructured.Unstructured) {
	GinkgoHelper()
	for _, object := range objects {
		Eventually(func() error {
			return to.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), client.FieldOwner("kubectl"), client.ForceOwnership)
		}).Should(Succeed(), "%s %s", object.GetKind(), object.GetName())
	}
}

func gone(ctx context.Context, from client.Client, object client.Object) func() (bool, error) {
	return func() (bool, error) {
		err := from.Get(ctx, client.ObjectKeyFromObject(object), object.DeepCopyObject().(client.Object))
		return client.IgnoreNotFound(err) == nil && err != nil, client.IgnoreNotFound(err)
	}
}

// rolledOut: the Deployment runs as many ready pods as it is to, all of them of
// its present template.
func rolledOut(ctx context.Context, on client.Client, namespace, name string) func(Gomega) {
	return func(g Gomega) {
		deployment := &appsv1.Deployment{}
		g.Expect(on.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment)).To(Succeed())
		status, wanted := deployment.Status, *deployment.Spec.Replicas
		g.Expect(status.ObservedGeneration).To(Equal(deployment.Generation))
		g.Expect([]int32{status.Replicas, status.UpdatedReplicas, status.ReadyReplicas}).To(Equal([]int32{wanted, wanted, wanted}), name)
	}
}
