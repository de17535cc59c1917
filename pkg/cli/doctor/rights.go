package doctor

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/deploy"
	"open-cluster-management.io/interlock/pkg/cli/components"
	"open-cluster-management.io/interlock/pkg/names"
)

// grant is a role of Interlock, and the service account that a binding of the same name gives it to.
type grant struct {
	file, account string
	// needed reports whether the hub needs the grant. Without it, the hub always does.
	needed func(context.Context, *hub) (bool, error)
}

var grants = []grant{
	{"hub/clusterrole.yaml", names.AddonManager, nil},
	{"hub/role.yaml", names.AddonManager, nil},
	{"hub/webhook-clusterrole.yaml", webhookName, nil},
	{"hub/webhook-role.yaml", webhookName, nil},
	{"hub/graft-clusterrole.yaml", names.AddonManager, needsGraftRights},
	{"hub/guard-policy-clusterrole.yaml", names.AddonManager, needsRightsFor(names.Guard, "MutatingAdmissionPolicy", "v1", "v1beta1")},
	{"hub/guard-webhook-clusterrole.yaml", names.AddonManager, needsRightsFor(names.Guard, "MutatingWebhookConfiguration", "v1")},
	{"hub/lifecycle-clusterrole.yaml", names.AddonManager, needsRightsFor(lifecycleName, "MutatingWebhookConfiguration", "v1")},
	{"console/clusterrole.yaml", components.Console, hasConsole},
	{"console/role.yaml", components.Console, hasConsole},
}

func hasConsole(ctx context.Context, h *hub) (bool, error) {
	console, err := h.Deployment(ctx, components.Console)
	return console != nil, err
}

func needsGraftRights(ctx context.Context, h *hub) (bool, error) {
	crd, err := h.crd(ctx, registration)
	return crd != nil && isGrafted(crd), err
}

func needsRightsFor(name, kind string, versions ...string) func(context.Context, *hub) (bool, error) {
	return func(ctx context.Context, h *hub) (bool, error) {
		for _, version := range versions {
			object, err := h.Object(ctx, admission, version, kind, client.ObjectKey{Name: name})
			if object != nil || err != nil {
				return object != nil, err
			}
		}
		return false, nil
	}
}

// checkRights checks that Interlock's parts have the rights that this version of them needs. It reads roles and bindings, because a
// SubjectAccessReview about another user takes a right to write.
func checkRights(ctx context.Context, h *hub) []result {
	var results []result
	for _, grant := range grants {
		if grant.needed != nil {
			switch needed, err := grant.needed(ctx, h); {
			case err != nil:
				return append(results, unreadable("What rights are needed", err)...)
			case !needed:
				continue
			}
		}
		problem, err := h.grantProblem(ctx, grant)
		switch {
		case err != nil:
			return append(results, unreadable("The rights of "+grant.account, err)...)
		case problem != "":
			results = append(results, result{failed, problem, "helm upgrade, kubectl addon hub upgrade, or kubectl apply -k deploy/" + path.Dir(grant.file)})
		}
	}
	switch {
	case len(results) == 0:
		return []result{{passed, "All parts on the hub have the rights that they need", ""}}
	case h.versionDiffers(ctx): // Another version may need other rights.
		for i := range results {
			results[i].status, results[i].repair = note, "docs/kubectl-addon.md#install"
			results[i].message += ". This plugin has another version than addon-manager, which may need other rights"
		}
	}
	return results
}

// grantProblem describes the rights of a grant that its service account lacks. It returns an empty string if it lacks none.
func (h *hub) grantProblem(ctx context.Context, grant grant) (string, error) {
	manifest := roleManifest(grant.file)
	key := client.ObjectKey{Name: manifest.Name}
	if manifest.Kind == "Role" {
		key.Namespace = h.Namespace
	}
	binding, err := h.Object(ctx, rbac, "v1", manifest.Kind+"Binding", key)
	if err != nil {
		return "", err
	}
	if binding == nil || !h.binds(binding, manifest, grant.account) {
		return fmt.Sprintf("No %sBinding %s gives %s its rights", manifest.Kind, manifest.Name, grant.account), nil
	}
	role, err := h.Object(ctx, rbac, "v1", manifest.Kind, key)
	if err != nil {
		return "", err
	}
	if role == nil {
		return fmt.Sprintf("The %s %s is missing, so %s lacks its rights", manifest.Kind, manifest.Name, grant.account), nil
	}
	var actual rbacv1.Role
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(role.Object, &actual); err != nil {
		return "", err
	}
	if missing := missingRights(actual.Rules, manifest.Rules); len(missing) > 0 {
		return fmt.Sprintf("The %s %s lacks rights that %s needs: %s", manifest.Kind, manifest.Name, grant.account, strings.Join(missing, ", ")), nil
	}
	return "", nil
}

// binds reports whether a binding gives a role to a service account of Interlock.
func (h *hub) binds(binding *unstructured.Unstructured, role *rbacv1.Role, account string) bool {
	name, _, _ := unstructured.NestedString(binding.Object, "roleRef", "name")
	kind, _, _ := unstructured.NestedString(binding.Object, "roleRef", "kind")
	return name == role.Name && kind == role.Kind && slices.ContainsFunc(components.MapsIn(binding.Object, "subjects"),
		func(subject map[string]any) bool {
			return subject["kind"] == rbacv1.ServiceAccountKind && subject["name"] == account && subject["namespace"] == h.Namespace
		})
}

// missingRights returns the required rights that the actual rules do not grant, such as "list managedclusters".
func missingRights(actual, required []rbacv1.PolicyRule) []string {
	var missing []string
	for _, rule := range required {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					right := rbacv1.PolicyRule{
						APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb},
						ResourceNames: rule.ResourceNames,
					}
					if !slices.ContainsFunc(actual, func(rule rbacv1.PolicyRule) bool { return covers(rule, right) }) {
						missing = append(missing, verb+" "+resource)
					}
				}
			}
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// covers reports whether a rule grants all rights of another rule.
func covers(rule, required rbacv1.PolicyRule) bool {
	containsAll := func(granted, values []string) bool {
		return !slices.ContainsFunc(values, func(value string) bool { return !slices.Contains(granted, value) && !slices.Contains(granted, "*") })
	}
	coversNames := len(rule.ResourceNames) == 0 || len(required.ResourceNames) > 0 && containsAll(rule.ResourceNames, required.ResourceNames)
	return coversNames && containsAll(rule.APIGroups, required.APIGroups) && containsAll(rule.Resources, required.Resources) &&
		containsAll(rule.Verbs, required.Verbs)
}

// roleManifest returns a Role or ClusterRole as this program ships it.
func roleManifest(file string) *rbacv1.Role {
	role := &rbacv1.Role{}
	content, err := deploy.Roles.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(content, role)
	}
	if err != nil {
		panic(err) // a test reads them all
	}
	return role
}
