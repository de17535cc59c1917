package agentaddon

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	applyrbacv1 "k8s.io/client-go/applyconfigurations/rbac/v1"
	"k8s.io/client-go/kubernetes"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/controllers"
	"open-cluster-management.io/interlock/pkg/names"
)

// The objects that give an agent its rights on the hub. A RoleBinding in the namespace of
// its cluster binds the ClusterRole of deploy/hub/agent-hub-clusterrole.yaml.
const (
	hubClusterRole = "interlock-addon-agent-hub"
	hubRoleBinding = "interlock-addon-agent"
)

// granter gives each agent its rights on the hub. OCM's hubPermissions cannot be used:
// OCM binds them to every group of the agent's certificate, and one of these groups is
// common to the agents of all clusters.
type granter struct {
	live client.Reader
	hub  kubernetes.Interface
}

// Reconcile binds the role for one agent. The binding is deleted with the
// add-on, which owns it.
func (g *granter) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	addOn := &addonv1alpha1.ManagedClusterAddOn{}
	if err := g.live.Get(ctx, request.NamespacedName, addOn); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	bindings := g.hub.RbacV1().RoleBindings(request.Namespace)
	existing, err := bindings.Get(ctx, hubRoleBinding, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return reconcile.Result{}, fmt.Errorf("read RoleBinding %s/%s: %w", request.Namespace, hubRoleBinding, err)
	}
	if !addOn.DeletionTimestamp.IsZero() || err == nil && isBound(existing, addOn) {
		return reconcile.Result{}, nil
	}
	_, err = bindings.Apply(ctx, binding(addOn), metav1.ApplyOptions{FieldManager: names.AddonManager, Force: true})
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("bind ClusterRole %s in namespace %s: %w", hubClusterRole, request.Namespace, err)
	}
	log.FromContext(ctx).V(1).Info("Rights on the hub are granted", "cluster", request.Namespace)
	return reconcile.Result{}, nil
}

// agentUsers returns the user names that only the agent of a cluster has on the hub:
// the name in its certificate, the name in a certificate that an older release of the agent
// requested, and the service account on hubs where add-ons get tokens. Groups are not
// bound, because OCM 1.3 signs certificate requests with any additional group.
func agentUsers(cluster string) []string {
	certificate := fmt.Sprintf("system:open-cluster-management:cluster:%s:addon:%s:agent:%s", cluster, Name, Name)
	return []string{
		certificate + "-agent",
		certificate,
		fmt.Sprintf("system:serviceaccount:%s:%s-agent", cluster, Name),
	}
}

// isBound reports whether the stored RoleBinding grants the rights to the agent.
func isBound(existing *rbacv1.RoleBinding, addOn *addonv1alpha1.ManagedClusterAddOn) bool {
	var subjects []rbacv1.Subject
	for _, user := range agentUsers(addOn.Namespace) {
		subjects = append(subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user})
	}
	owned := len(existing.OwnerReferences) == 1 && existing.OwnerReferences[0].UID == addOn.UID
	return owned && equality.Semantic.DeepEqual(existing.Subjects, subjects) && existing.RoleRef.Name == hubClusterRole
}

func binding(addOn *addonv1alpha1.ManagedClusterAddOn) *applyrbacv1.RoleBindingApplyConfiguration {
	// The owner keeps the API version that earlier releases wrote. Some hubs, such as
	// OpenShift's, let only clients with the right to delete change an owner.
	roleBinding := applyrbacv1.RoleBinding(hubRoleBinding, addOn.Namespace).
		WithLabels(map[string]string{addonv1beta1.AddonLabelKey: Name, names.ManagedBy: names.AddonManager}).
		WithOwnerReferences(applymetav1.OwnerReference().
			WithAPIVersion(addonv1beta1.GroupVersion.String()).WithKind("ManagedClusterAddOn").
			WithName(addOn.Name).WithUID(addOn.UID)).
		WithRoleRef(applyrbacv1.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("ClusterRole").WithName(hubClusterRole))
	for _, user := range agentUsers(addOn.Namespace) {
		roleBinding.WithSubjects(applyrbacv1.Subject().WithAPIGroup(rbacv1.GroupName).WithKind(rbacv1.UserKind).WithName(user))
	}
	return roleBinding
}

func (g *granter) setupWithManager(mgr ctrl.Manager) error {
	return controllers.Setup(mgr, "agent-rights", g, 1, controllers.RetryOnHub,
		source.Kind(mgr.GetCache(), &addonv1alpha1.ManagedClusterAddOn{},
			&handler.TypedEnqueueRequestForObject[*addonv1alpha1.ManagedClusterAddOn]{},
			predicate.NewTypedPredicateFuncs(func(addOn *addonv1alpha1.ManagedClusterAddOn) bool { return addOn.Name == Name })))
}
