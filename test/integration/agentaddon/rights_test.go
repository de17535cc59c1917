package agentaddon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	applyrbacv1 "k8s.io/client-go/applyconfigurations/rbac/v1"
	"k8s.io/client-go/rest"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/witness"
)

var auditLog string

// auditFlags returns the flags with which the API server logs the requests that the witness needs, and the reads of addon-manager.
func auditFlags() (flags map[string][]string, log string) {
	GinkgoHelper()
	flags, log, err := witness.AuditFlags(GinkgoT().TempDir())
	Expect(err).NotTo(HaveOccurred())
	file := flags["audit-policy-file"][0]
	content, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	policy := &auditv1.Policy{}
	Expect(yaml.UnmarshalStrict(content, policy)).To(Succeed())
	reads := auditv1.PolicyRule{Level: auditv1.LevelMetadata, Users: []string{managerUser}, Verbs: []string{"get", "list", "watch"}}
	policy.OmitStages = []auditv1.Stage{auditv1.StageRequestReceived} // a watch is logged when it has started
	policy.Rules = slices.Insert(policy.Rules, 0, reads)
	content, err = yaml.Marshal(policy)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(file, content, 0o600)).To(Succeed())
	return flags, log
}

type right struct{ verb, group, resource string }

func (r right) String() string { return r.verb + " " + r.resource }

// impliedRights are permissions that the API server requires in the course of another request. Each has a spec of its own.
var impliedRights = []string{"create rolebindings", "bind clusterroles"}

// unused returns the permissions of deploy/hub/agent-clusterrole.yaml that addon-manager has not used.
func unused() []string {
	GinkgoHelper()
	used := map[right]bool{}
	content, err := os.ReadFile(auditLog)
	Expect(err).NotTo(HaveOccurred())
	for line := range strings.Lines(string(content)) {
		var event struct {
			Verb      string
			User      struct{ Username string }
			ObjectRef struct{ APIGroup, Resource, Subresource string }
		}
		Expect(json.Unmarshal([]byte(line), &event)).To(Succeed())
		if event.User.Username != managerUser {
			continue
		}
		resource := event.ObjectRef.Resource
		if event.ObjectRef.Subresource != "" {
			resource += "/" + event.ObjectRef.Subresource
		}
		used[right{event.Verb, event.ObjectRef.APIGroup, resource}] = true
	}
	var idle []string
	for _, granted := range rightsOf(agentRules()) {
		// An informer lists and watches. It may do both in one request.
		streamed := granted.verb == "list" && used[right{"watch", granted.group, granted.resource}]
		if !used[granted] && !streamed && !slices.Contains(impliedRights, granted.String()) {
			idle = append(idle, granted.String())
		}
	}
	return idle
}

func agentRules() []rbacv1.PolicyRule {
	role := &rbacv1.ClusterRole{}
	load("hub/agent-clusterrole.yaml", role)
	return role.Rules
}

func rightsOf(rules []rbacv1.PolicyRule) []right {
	var rights []right
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					rights = append(rights, right{verb, group, resource})
				}
			}
		}
	}
	return rights
}

var users int

// managerWithout returns the configuration of a user with all permissions of addon-manager except one.
func managerWithout(ctx context.Context, withheld string) *rest.Config {
	GinkgoHelper()
	users++
	name := fmt.Sprintf("manager-%d", users)
	role := &rbacv1.ClusterRole{}
	load("hub/clusterrole.yaml", role)
	rules := role.Rules
	for _, rule := range agentRules() {
		rule.Verbs = slices.DeleteFunc(rule.Verbs, func(verb string) bool { return verb+" "+rule.Resources[0] == withheld })
		rules = append(rules, rule)
	}
	rules = slices.DeleteFunc(rules, func(rule rbacv1.PolicyRule) bool { return len(rule.Verbs) == 0 })
	Expect(hub.Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules})).To(Succeed())
	Expect(hub.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	})).To(Succeed())
	user, err := fleet.AddUser(name)
	Expect(err).NotTo(HaveOccurred())
	// The API server observes roles a moment after they are created.
	Eventually(func() error {
		return setup.ClientAs(user.Config, hub).List(ctx, &ocmv1beta1.AddOnDeploymentConfigList{})
	}).Should(Succeed())
	return user.Config
}

// The requests are those of addon-manager. They change nothing.

func applyBinding(ctx context.Context, userClient client.Client) error {
	err := hub.Delete(ctx, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "interlock-addon-agent"}})
	Expect(client.IgnoreNotFound(err)).To(Succeed())
	return userClient.Apply(ctx, applyrbacv1.RoleBinding("interlock-addon-agent", "cluster1").
		WithRoleRef(applyrbacv1.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("ClusterRole").WithName("interlock-addon-agent-hub")).
		WithSubjects(applyrbacv1.Subject().WithAPIGroup(rbacv1.GroupName).WithKind(rbacv1.UserKind).WithName("somebody")),
		client.FieldOwner("test"), client.DryRunAll)
}

// applyBindingOfMore binds the agents' role, which contains a permission that addon-manager does not have.
func applyBindingOfMore(ctx context.Context, userClient client.Client) error {
	role := &rbacv1.ClusterRole{}
	Expect(hub.Get(ctx, client.ObjectKey{Name: "interlock-addon-agent-hub"}, role)).To(Succeed())
	role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}})
	Expect(hub.Update(ctx, role)).To(Succeed())
	return applyBinding(ctx, userClient) // repeated until the API server observes the role
}
