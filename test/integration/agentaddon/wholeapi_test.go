package agentaddon

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// verbs are the verbs of Kubernetes, and those that RBAC and admission check in addition.
var verbs = []string{
	"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection",
	"bind", "escalate", "impersonate", "approve", "sign", "attest", "use", "proxy",
}

// servedResources returns all resources of the hub, with subresources, in each version.
func servedResources() map[schema.GroupVersionResource]metav1.APIResource {
	GinkgoHelper()
	resources := map[schema.GroupVersionResource]metav1.APIResource{}
	client, err := discovery.NewDiscoveryClientForConfig(fleet.Config)
	Expect(err).NotTo(HaveOccurred())
	_, lists, err := client.ServerGroupsAndResources()
	Expect(err).NotTo(HaveOccurred())
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		Expect(err).NotTo(HaveOccurred())
		for _, resource := range list.APIResources {
			resources[version.WithResource(resource.Name)] = resource
		}
	}
	Expect(len(resources)).To(BeNumerically(">", 100))
	return resources
}

// allowedRights returns the permissions that a user has in a namespace or cluster-wide, according to the API server.
func allowedRights(ctx context.Context, user *rest.Config, namespace string) []string {
	GinkgoHelper()
	client, err := kubernetes.NewForConfig(user)
	Expect(err).NotTo(HaveOccurred())
	reviews := client.AuthorizationV1().SelfSubjectAccessReviews()
	rights := map[string]bool{}
	reviewed := map[right]bool{}
	for gvr := range servedResources() {
		resource, subresource, _ := strings.Cut(gvr.Resource, "/")
		for _, verb := range verbs {
			candidate := right{verb, gvr.Group, gvr.Resource}
			if reviewed[candidate] {
				continue
			}
			reviewed[candidate] = true
			review, err := reviews.Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Namespace: namespace, Verb: verb, Group: gvr.Group, Resource: resource, Subresource: subresource,
				},
			}}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			if review.Status.Allowed {
				rights[candidate.full()] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(rights))
}

// everyoneMay are the permissions that Kubernetes grants to every user: reviews of the user itself.
var everyoneMay = []string{
	"create selfsubjectaccessreviews.authorization.k8s.io", "create selfsubjectrulesreviews.authorization.k8s.io",
	"create selfsubjectreviews.authentication.k8s.io",
}

func (r right) full() string { return r.String() + "." + r.group }

// notRefused sends each kind of request for each resource, in the namespace and without one. It returns the requests that are not
// forbidden, and the number of requests.
func notRefused(ctx context.Context, user *rest.Config, namespace string) (notForbidden []string, count int) {
	GinkgoHelper()
	client, err := dynamic.NewForConfig(user)
	Expect(err).NotTo(HaveOccurred())
	for gvr, resource := range servedResources() {
		if gvr.Group == authorizationv1.GroupName || gvr.Group == authenticationv1.GroupName {
			continue // every user may create reviews, which allowed compares
		}
		name, subresource, _ := strings.Cut(gvr.Resource, "/")
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": gvr.GroupVersion().String(), "kind": resource.Kind, "metadata": map[string]any{"name": namespace},
		}}
		resources := client.Resource(gvr.GroupVersion().WithResource(name))
		requests := requestsFor(ctx, resources, object, subresource)
		if resource.Namespaced {
			// Only these two requests exist for all namespaces.
			requests = map[string]func() error{"list all": requests["list"], "watch all": requests["watch"]}
			maps.Copy(requests, requestsFor(ctx, resources.Namespace(namespace), object, subresource))
		}
		for verb, send := range requests {
			if send == nil {
				continue // a subresource has no list
			}
			count++
			if err := send(); !apierrors.IsForbidden(err) {
				notForbidden = append(notForbidden, verb+" "+gvr.String())
			}
		}
	}
	return notForbidden, count
}

// requestsFor returns the requests for a resource or a subresource, by verb. They store nothing.
func requestsFor(
	ctx context.Context, resource dynamic.ResourceInterface, object *unstructured.Unstructured, subresource string,
) map[string]func() error {
	name, dry := object.GetName(), []string{metav1.DryRunAll}
	subresources := []string{}
	if subresource != "" {
		subresources = append(subresources, subresource)
	}
	requests := map[string]func() error{
		"get": func() error { _, err := resource.Get(ctx, name, metav1.GetOptions{}, subresources...); return err },
		"create": func() error {
			_, err := resource.Create(ctx, object, metav1.CreateOptions{DryRun: dry}, subresources...)
			return err
		},
		"update": func() error {
			_, err := resource.Update(ctx, object, metav1.UpdateOptions{DryRun: dry}, subresources...)
			return err
		},
		"patch": func() error {
			_, err := resource.Patch(ctx, name, types.MergePatchType, []byte(`{}`), metav1.PatchOptions{DryRun: dry}, subresources...)
			return err
		},
	}
	if subresource != "" {
		return requests
	}
	requests["list"] = func() error { _, err := resource.List(ctx, metav1.ListOptions{Limit: 1}); return err }
	requests["watch"] = func() error {
		watch, err := resource.Watch(ctx, metav1.ListOptions{})
		if err == nil {
			watch.Stop()
		}
		return err
	}
	requests["delete"] = func() error { return resource.Delete(ctx, name, metav1.DeleteOptions{DryRun: dry}) }
	requests["deletecollection"] = func() error {
		return resource.DeleteCollection(ctx, metav1.DeleteOptions{DryRun: dry}, metav1.ListOptions{})
	}
	return requests
}

// impersonated returns the identities that a user may impersonate.
func impersonated(ctx context.Context, user *rest.Config) (identities []rest.ImpersonationConfig) {
	GinkgoHelper()
	const agentOf = "system:open-cluster-management:cluster:%s:addon:interlock-agent:agent:interlock-agent-agent"
	for _, identity := range []rest.ImpersonationConfig{
		{UserName: managerUser},
		{UserName: "system:serviceaccount:cluster1:default"},
		{UserName: fmt.Sprintf(agentOf, "cluster10")},
		{UserName: fmt.Sprintf(agentOf, "cluster1"), Groups: []string{"system:masters"}},
	} {
		config := rest.CopyConfig(user)
		config.Impersonate = identity
		client, err := kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		_, err = client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if !apierrors.IsForbidden(err) {
			identities = append(identities, identity)
		}
	}
	return identities
}

// wholeAPI tries all resources that the hub serves, with the certificate of the agent on cluster1.
func wholeAPI(ctx context.Context) {
	_, user := hubOf(ctx, administrator(managed["cluster1"].Cluster))
	user = rest.CopyConfig(user)
	user.QPS = -1
	role := &rbacv1.ClusterRole{}
	load("hub/agent-hub-clusterrole.yaml", role)
	rights := slices.Clone(everyoneMay)
	for _, granted := range rightsOf(role.Rules) {
		rights = append(rights, granted.full())
	}
	Expect(allowedRights(ctx, user, "cluster1")).To(ConsistOf(rights))
	for _, namespace := range []string{"cluster10", ""} {
		Expect(allowedRights(ctx, user, namespace)).To(ConsistOf(everyoneMay), "in %q", namespace)
	}
	Expect(impersonated(ctx, user)).To(BeEmpty())
	notForbidden, count := notRefused(ctx, user, "cluster10")
	Expect(notForbidden).To(BeEmpty())
	Expect(count).To(BeNumerically(">", 500))
	AddReportEntry("requests refused in the namespace of another cluster, and cluster-wide", count)
}
