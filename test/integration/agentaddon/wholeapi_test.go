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

// verbs are those of Kubernetes, with those that RBAC and admission ask for beside a request.
var verbs = []string{
	"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection",
	"bind", "escalate", "impersonate", "approve", "sign", "attest", "use", "proxy",
}

// served are all resources of the hub, with subresources, in each version.
func served() map[schema.GroupVersionResource]metav1.APIResource {
	GinkgoHelper()
	found := map[schema.GroupVersionResource]metav1.APIResource{}
	client, err := discovery.NewDiscoveryClientForConfig(fleet.Config)
	Expect(err).NotTo(HaveOccurred())
	_, lists, err := client.ServerGroupsAndResources()
	Expect(err).NotTo(HaveOccurred())
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		Expect(err).NotTo(HaveOccurred())
		for _, resource := range list.APIResources {
			found[version.WithResource(resource.Name)] = resource
		}
	}
	Expect(len(found)).To(BeNumerically(">", 100))
	return found
}

// allowed are the rights that the API server says a user has in a namespace, or cluster-wide.
func allowed(ctx context.Context, user *rest.Config, namespace string) []string {
	GinkgoHelper()
	client, err := kubernetes.NewForConfig(user)
	Expect(err).NotTo(HaveOccurred())
	reviews := client.AuthorizationV1().SelfSubjectAccessReviews()
	rights := map[string]bool{}
	asked := map[right]bool{}
	for gvr := range served() {
		resource, subresource, _ := strings.Cut(gvr.Resource, "/")
		for _, verb := range verbs {
			one := right{verb, gvr.Group, gvr.Resource}
			if asked[one] {
				continue
			}
			asked[one] = true
			review, err := reviews.Create(ctx, &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{
					Namespace: namespace, Verb: verb, Group: gvr.Group, Resource: resource, Subresource: subresource,
				},
			}}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			if review.Status.Allowed {
				rights[one.full()] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(rights))
}

// everyoneMay is what Kubernetes lets every user ask about itself.
var everyoneMay = []string{
	"create selfsubjectaccessreviews.authorization.k8s.io", "create selfsubjectrulesreviews.authorization.k8s.io",
	"create selfsubjectreviews.authentication.k8s.io",
}

func (r right) full() string { return r.String() + "." + r.group }

// notRefused sends each kind of request for each resource, in the namespace and without
// one, and returns those that are not forbidden.
func notRefused(ctx context.Context, user *rest.Config, namespace string) (passed []string, sent int) {
	GinkgoHelper()
	client, err := dynamic.NewForConfig(user)
	Expect(err).NotTo(HaveOccurred())
	for gvr, resource := range served() {
		if gvr.Group == authorizationv1.GroupName || gvr.Group == authenticationv1.GroupName {
			continue // what everyone may ask; allowed compares it
		}
		name, subresource, _ := strings.Cut(gvr.Resource, "/")
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": gvr.GroupVersion().String(), "kind": resource.Kind, "metadata": map[string]any{"name": namespace},
		}}
		all := client.Resource(gvr.GroupVersion().WithResource(name))
		requests := requestsFor(ctx, all, object, subresource)
		if resource.Namespaced {
			// For all namespaces there are only these two.
			requests = map[string]func() error{"list all": requests["list"], "watch all": requests["watch"]}
			maps.Copy(requests, requestsFor(ctx, all.Namespace(namespace), object, subresource))
		}
		for verb, send := range requests {
			if send == nil {
				continue // a subresource has no list
			}
			sent++
			if err := send(); !apierrors.IsForbidden(err) {
				passed = append(passed, verb+" "+gvr.String())
			}
		}
	}
	return passed, sent
}

// requestsFor are the requests for a resource, or a subresource, by what they do. None is
// stored if it passes.
func requestsFor(
	ctx context.Context, in dynamic.ResourceInterface, object *unstructured.Unstructured, subresource string,
) map[string]func() error {
	name, dry := object.GetName(), []string{metav1.DryRunAll}
	of := []string{}
	if subresource != "" {
		of = append(of, subresource)
	}
	requests := map[string]func() error{
		"get":    func() error { _, err := in.Get(ctx, name, metav1.GetOptions{}, of...); return err },
		"create": func() error { _, err := in.Create(ctx, object, metav1.CreateOptions{DryRun: dry}, of...); return err },
		"update": func() error { _, err := in.Update(ctx, object, metav1.UpdateOptions{DryRun: dry}, of...); return err },
		"patch": func() error {
			_, err := in.Patch(ctx, name, types.MergePatchType, []byte(`{}`), metav1.PatchOptions{DryRun: dry}, of...)
			return err
		},
	}
	if subresource != "" {
		return requests
	}
	requests["list"] = func() error { _, err := in.List(ctx, metav1.ListOptions{Limit: 1}); return err }
	requests["watch"] = func() error {
		watch, err := in.Watch(ctx, metav1.ListOptions{})
		if err == nil {
			watch.Stop()
		}
		return err
	}
	requests["delete"] = func() error { return in.Delete(ctx, name, metav1.DeleteOptions{DryRun: dry}) }
	requests["deletecollection"] = func() error {
		return in.DeleteCollection(ctx, metav1.DeleteOptions{DryRun: dry}, metav1.ListOptions{})
	}
	return requests
}

// impersonated returns the identities in whose name a user may act.
func impersonated(ctx context.Context, user *rest.Config) (possible []rest.ImpersonationConfig) {
	GinkgoHelper()
	const agentOf = "system:open-cluster-management:cluster:%s:addon:interlock-agent:agent:interlock-agent-agent"
	for _, other := range []rest.ImpersonationConfig{
		{UserName: managerUser},
		{UserName: "system:serviceaccount:cluster1:default"},
		{UserName: fmt.Sprintf(agentOf, "cluster10")},
		{UserName: fmt.Sprintf(agentOf, "cluster1"), Groups: []string{"system:masters"}},
	} {
		acting := rest.CopyConfig(user)
		acting.Impersonate = other
		client, err := kubernetes.NewForConfig(acting)
		Expect(err).NotTo(HaveOccurred())
		_, err = client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if !apierrors.IsForbidden(err) {
			possible = append(possible, other)
		}
	}
	return possible
}

// wholeAPI tries all that the hub serves, with the certificate of the agent on cluster1.
func wholeAPI(ctx context.Context) {
	_, user := hubOf(ctx, administrator(managed["cluster1"].Cluster))
	user = rest.CopyConfig(user)
	user.QPS = -1
	role := &rbacv1.ClusterRole{}
	load("hub/agent-hub-clusterrole.yaml", role)
	own := slices.Clone(everyoneMay)
	for _, granted := range rightsOf(role.Rules) {
		own = append(own, granted.full())
	}
	Expect(allowed(ctx, user, "cluster1")).To(ConsistOf(own))
	for _, elsewhere := range []string{"cluster10", ""} {
		Expect(allowed(ctx, user, elsewhere)).To(ConsistOf(everyoneMay), "in %q", elsewhere)
	}
	Expect(impersonated(ctx, user)).To(BeEmpty())
	passed, sent := notRefused(ctx, user, "cluster10")
	Expect(passed).To(BeEmpty())
	Expect(sent).To(BeNumerically(">", 500))
	AddReportEntry("requests refused in the namespace of another cluster, and cluster-wide", sent)
}
