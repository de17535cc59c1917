package deployment

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// right is the smallest unit that RBAC grants: one verb on one resource, to one user, by a role.
type right struct {
	user, role string
	// namespace and name limit the right. They are empty if it is not limited.
	namespace, name       string
	verb, group, resource string
}

func (r right) String() string {
	return strings.TrimSuffix(fmt.Sprintf("%-44s %-6s %s", r.role, r.verb, strings.Trim(r.resource+"."+r.group, ".")+" "+r.name), " ")
}

func (r right) covers(request accessRequest) bool {
	resource := request.Resource
	if request.Subresource != "" {
		resource += "/" + request.Subresource
	}
	return r.user == request.user && r.verb == request.Verb && r.group == request.Group && r.resource == resource &&
		(r.name == "" || r.name == request.Name) && (r.namespace == "" || r.namespace == request.Namespace)
}

// agentAddOnRoles are given only with --grant-agent-rights. test/integration/agentaddon tests that each of their permissions is needed.
var agentAddOnRoles = []string{"ClusterRole/interlock-addon-manager-agent", "ClusterRole/interlock-addon-agent-hub"}

// granted returns the rights that the roles and bindings among the objects give.
func granted(objects []*unstructured.Unstructured) []right {
	GinkgoHelper()
	roles := map[string][]rbacv1.PolicyRule{}
	var bindings []rbacv1.RoleBinding
	for _, object := range objects {
		switch object.GetKind() {
		case "ClusterRole", "Role":
			roles[object.GetKind()+"/"+object.GetName()] = convert[rbacv1.Role](object).Rules
		case "ClusterRoleBinding", "RoleBinding":
			bindings = append(bindings, convert[rbacv1.RoleBinding](object))
		}
	}
	var rights []right
	bound := map[string]bool{}
	for _, binding := range bindings {
		role := binding.RoleRef.Kind + "/" + binding.RoleRef.Name
		Expect(roles).To(HaveKey(role), "bound by %s", binding.Name)
		bound[role] = true
		for _, subject := range binding.Subjects {
			user := subject.Name
			if subject.Kind == rbacv1.ServiceAccountKind {
				user = "system:serviceaccount:" + subject.Namespace + ":" + subject.Name
			}
			rights = append(rights, expand(roles[role], right{user: user, role: role, namespace: binding.Namespace})...)
		}
	}
	for role := range roles {
		if !slices.Contains(agentAddOnRoles, role) {
			Expect(bound).To(HaveKey(role), "a role that nobody is given")
		}
	}
	return rights
}

func expand(rules []rbacv1.PolicyRule, template right) []right {
	GinkgoHelper()
	var rights []right
	for _, rule := range rules {
		Expect(rule.NonResourceURLs).To(BeEmpty())
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, template.group = range rule.APIGroups {
			for _, template.resource = range rule.Resources {
				for _, template.verb = range rule.Verbs {
					for _, template.name = range names {
						Expect([]string{template.group, template.resource, template.verb}).NotTo(ContainElement("*"))
						rights = append(rights, template)
					}
				}
			}
		}
	}
	return rights
}

func convert[T any](object *unstructured.Unstructured) (result T) {
	GinkgoHelper()
	Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &result)).To(Succeed())
	return result
}

// agentRights returns the rights that deploy/agent gives to an agent: on the hub in its own namespace, and on the managed cluster.
func agentRights() []right {
	GinkgoHelper()
	var rights []right
	for file, limit := range map[string]string{"hub-role.yaml": "cluster1", "managed-clusterrole.yaml": ""} {
		content, err := os.ReadFile(filepath.Join("../../../deploy/agent", file))
		Expect(err).NotTo(HaveOccurred())
		var role rbacv1.Role
		Expect(yaml.UnmarshalStrict(content, &role)).To(Succeed())
		rights = append(rights, expand(role.Rules, right{user: agentUser, role: "agent/" + file, namespace: limit})...)
	}
	return rights
}

// check compares the granted rights with the requests in both directions. It lists each right with the first step that needed it.
func check(rights []right, requests []accessRequest) (unneeded, uncovered, table []string) {
	users := map[string]bool{}
	for _, right := range rights {
		users[right.user] = true
		index := slices.IndexFunc(requests, right.covers)
		if index < 0 {
			unneeded = append(unneeded, right.String())
			continue
		}
		table = append(table, fmt.Sprintf("%s ← %s", right, requests[index].step))
	}
	for _, request := range requests {
		if !users[request.user] || slices.ContainsFunc(rights, func(r right) bool { return r.covers(request) }) {
			continue
		}
		uncovered = append(uncovered, fmt.Sprintf("%s: %s %s.%s/%s %s/%s, %s", request.user, request.Verb, request.Resource, request.Group,
			request.Subresource, request.Namespace, request.Name, request.step))
	}
	slices.Sort(table)
	slices.Sort(uncovered)
	return unneeded, slices.Compact(uncovered), slices.Compact(table)
}
