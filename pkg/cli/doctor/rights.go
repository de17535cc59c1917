package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/deploy"
	"open-cluster-management.io/interlock/pkg/names"
)

// grant is a role of Interlock, and which service account it is bound to by a binding of the
// same name.
type grant struct {
	file, account string
	// needed reports whether the hub needs it; nil: always.
	needed func(context.Context, *hub) (bool, error)
}

var grants = []grant{
	{"clusterrole.yaml", names.AddonManager, nil},
	{"role.yaml", names.AddonManager, nil},
	{"webhook-clusterrole.yaml", webhookName, nil},
	{"webhook-role.yaml", webhookName, nil},
	{"graft-clusterrole.yaml", names.AddonManager, needsGraftRights},
	{"guard-policy-clusterrole.yaml", names.AddonManager, needsRightsFor(names.Guard, "MutatingAdmissionPolicy", "v1", "v1beta1")},
	{"guard-webhook-clusterrole.yaml", names.AddonManager, needsRightsFor(names.Guard, "MutatingWebhookConfiguration", "v1")},
	{"lifecycle-clusterrole.yaml", names.AddonManager, needsRightsFor(lifecycleName, "MutatingWebhookConfiguration", "v1")},
}

func needsGraftRights(ctx context.Context, h *hub) (bool, error) {
	crd, err := h.crd(ctx, registration)
	return crd != nil && isGrafted(crd), err
}

func needsRightsFor(name, kind string, versions ...string) func(context.Context, *hub) (bool, error) {
	return func(ctx context.Context, h *hub) (bool, error) {
		for _, version := range versions {
			object, err := h.get(ctx, admission, version, kind, client.ObjectKey{Name: name})
			if object != nil || err != nil {
				return object != nil, err
			}
		}
		return false, nil
	}
}

// rights checks that Interlock's parts are granted what this version of them needs. It reads
// roles and bindings: to ask the API server about another user takes a right to write.
func rights(ctx context.Context, h *hub) (results []result) {
	for _, grant := range grants {
		if grant.needed != nil {
			switch needed, err := grant.needed(ctx, h); {
			case err != nil:
				return append(results, unread("What rights are needed", err)...)
			case !needed:
				continue
			}
		}
		problem, err := h.missing(ctx, grant)
		switch {
		case err != nil:
			return append(results, unread("The rights of "+grant.account, err)...)
		case problem != "":
			results = append(results, result{unwell, problem, "helm upgrade, or kubectl apply -k deploy/hub"})
		}
	}
	switch {
	case len(results) == 0:
		return []result{{well, "addon-manager and its webhook have the rights that they need", ""}}
	case h.differs(ctx): // then it may need others
		for i := range results {
			results[i].status, results[i].repair = note, "docs/kubectl-addon.md#install"
			results[i].found += ". This plugin has another version than addon-manager, which may need other rights"
		}
	}
	return results
}

// missing is what a service account lacks of a grant; empty: nothing.
func (h *hub) missing(ctx context.Context, of grant) (string, error) {
	wanted := shippedRole(of.file)
	key := client.ObjectKey{Name: wanted.Name}
	if wanted.Kind == "Role" {
		key.Namespace = h.namespace
	}
	binding, err := h.get(ctx, rbac, "v1", wanted.Kind+"Binding", key)
	if err != nil {
		return "", err
	}
	if binding == nil || !h.binds(binding, wanted, of.account) {
		return fmt.Sprintf("No %sBinding %s gives %s its rights", wanted.Kind, wanted.Name, of.account), nil
	}
	role, err := h.get(ctx, rbac, "v1", wanted.Kind, key)
	if err != nil {
		return "", err
	}
	if role == nil {
		return fmt.Sprintf("The %s %s is missing, so %s lacks its rights", wanted.Kind, wanted.Name, of.account), nil
	}
	var is rbacv1.Role
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(role.Object, &is); err != nil {
		return "", err
	}
	if lacking := lackingRights(is.Rules, wanted.Rules); len(lacking) > 0 {
		return fmt.Sprintf("The %s %s lacks rights that %s needs: %s", wanted.Kind, wanted.Name, of.account, strings.Join(lacking, ", ")), nil
	}
	return "", nil
}

// binds reports whether a binding gives a role to a service account of Interlock.
func (h *hub) binds(binding *unstructured.Unstructured, role *rbacv1.Role, account string) bool {
	name, _, _ := unstructured.NestedString(binding.Object, "roleRef", "name")
	kind, _, _ := unstructured.NestedString(binding.Object, "roleRef", "kind")
	return name == role.Name && kind == role.Kind && slices.ContainsFunc(sliceOf(binding.Object, "subjects"),
		func(subject map[string]any) bool {
			return subject["kind"] == rbacv1.ServiceAccountKind && subject["name"] == account && subject["namespace"] == h.namespace
		})
}

// lackingRights are rights that rules lack, such as "list managedclusters".
func lackingRights(is, wanted []rbacv1.PolicyRule) (lacking []string) {
	for _, rule := range wanted {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					one := rbacv1.PolicyRule{
						APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb},
						ResourceNames: rule.ResourceNames,
					}
					if !slices.ContainsFunc(is, func(has rbacv1.PolicyRule) bool { return covers(has, one) }) {
						lacking = append(lacking, verb+" "+resource)
					}
				}
			}
		}
	}
	slices.Sort(lacking)
	return slices.Compact(lacking)
}

// covers reports whether a rule grants what another one does.
func covers(has, one rbacv1.PolicyRule) bool {
	all := func(granted, wanted []string) bool {
		return !slices.ContainsFunc(wanted, func(each string) bool { return !slices.Contains(granted, each) && !slices.Contains(granted, "*") })
	}
	named := len(has.ResourceNames) == 0 || len(one.ResourceNames) > 0 && all(has.ResourceNames, one.ResourceNames)
	return named && all(has.APIGroups, one.APIGroups) && all(has.Resources, one.Resources) && all(has.Verbs, one.Verbs)
}

// shippedRole is a role that this program ships, of a cluster or of a namespace.
func shippedRole(file string) *rbacv1.Role {
	role := &rbacv1.Role{}
	content, err := deploy.Roles.ReadFile("hub/" + file)
	if err == nil {
		err = yaml.Unmarshal(content, role)
	}
	if err != nil {
		panic(err) // a test reads them all
	}
	return role
}
