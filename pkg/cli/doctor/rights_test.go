package doctor

import (
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

func TestRights(t *testing.T) {
	const role, graft = "ClusterRole interlock-addon-manager", "ClusterRoleBinding interlock-addon-manager-graft"
	removeVerb := func(o objects, _ *snapshot.Content) {
		o[role] = strings.Replace(o[role], "resources: [managedclusters]\n    verbs: [list, watch]",
			"resources: [managedclusters]\n    verbs: [list]", 1)
	}
	runCases(t, "rights", map[string]testCase{
		"all of them": {nil, []string{"✔ All parts on the hub have the rights that they need"}},
		"all by wildcards": {
			func(o objects, _ *snapshot.Content) {
				o[role] = `rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]`
			},
			[]string{"✔"},
		},
		"a verb is missing": {removeVerb, []string{
			"✖ The ClusterRole interlock-addon-manager lacks rights that interlock-addon-manager needs: watch managedclusters → helm upgrade",
		}},
		"another version": {func(o objects, c *snapshot.Content) {
			removeVerb(o, c)
			o["Deployment interlock-addon-manager"] = strings.Replace(runningDeployment, "0.1.0", "0.2.0", 1)
		}, []string{"- The ClusterRole interlock-addon-manager lacks rights", "may need other rights"}},
		"another name": {func(o objects, _ *snapshot.Content) {
			o["Role interlock-webhook"] = strings.Replace(o["Role interlock-webhook"], "[interlock-webhook-ca]", "[other]", 1)
		}, []string{"✖ The Role interlock-webhook lacks rights", ": list configmaps, update configmaps, watch configmaps"}},
		"a role is missing": {
			func(o objects, _ *snapshot.Content) { delete(o, role) },
			[]string{"✖ The ClusterRole interlock-addon-manager is missing"},
		},
		"bound to another account": {func(o objects, _ *snapshot.Content) {
			o["RoleBinding interlock-addon-manager"] = strings.Replace(o["RoleBinding interlock-addon-manager"], "namespace: interlock-system",
				"namespace: default", 1)
		}, []string{"✖ No RoleBinding interlock-addon-manager gives interlock-addon-manager its rights"}},
		"of the console": {
			func(o objects, _ *snapshot.Content) { delete(o, "ClusterRole interlock-console") },
			[]string{
				"✖ The ClusterRole interlock-console is missing, so interlock-console lacks its rights → ",
				"or kubectl apply -k deploy/console",
			},
		},
		"no console": {func(o objects, _ *snapshot.Content) {
			delete(o, "ClusterRole interlock-console")
			delete(o, "Deployment interlock-console")
		}, []string{"✔"}},
		"no right to graft": {
			func(o objects, _ *snapshot.Content) { delete(o, graft) },
			[]string{"✖ No ClusterRoleBinding interlock-addon-manager-graft"},
		},
		"no graft": {func(o objects, _ *snapshot.Content) {
			delete(o, graft)
			o["CustomResourceDefinition "+registration] = "spec: {" + withField + "}"
		}, []string{"✔"}},
		"not readable": {
			func(o objects, _ *snapshot.Content) { o[role] = "error: forbidden" },
			[]string{"? The rights of interlock-addon-manager cannot be read: forbidden → docs/kubectl-addon.md#rights"},
		},
	})
}
