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
	"open-cluster-management.io/addon-framework/pkg/agent"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// What gives an agent its rights on the hub: the ClusterRole of
// deploy/hub/agent-hub-clusterrole.yaml, bound in its cluster's namespace.
const (
	hubClusterRole = "interlock-addon-agent-hub"
	hubRoleBinding = "interlock-addon-agent"
)

// tokenDriver is what the registration agent reports where it gives add-ons
// tokens instead of certificates.
const tokenDriver = "token"

// permissions gives agents their rights on the hub.
type permissions struct {
	hub kubernetes.Interface
}

// grant implements agent.PermissionConfigFunc. The binding goes with the add-on
// that owns it.
func (p permissions) grant(ctx context.Context, cluster *clusterv1.ManagedCluster, installed *addonv1beta1.ManagedClusterAddOn) error {
	bindings := p.hub.RbacV1().RoleBindings(cluster.Name)
	wanted := subject(cluster.Name, installed)
	existing, err := bindings.Get(ctx, hubRoleBinding, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("read RoleBinding %s/%s: %w", cluster.Name, hubRoleBinding, err)
	}
	if err == nil && bound(existing, wanted, installed) {
		return nil
	}
	_, err = bindings.Apply(ctx, binding(cluster.Name, wanted, installed), metav1.ApplyOptions{FieldManager: FieldManager, Force: true})
	if err != nil {
		return fmt.Errorf("bind ClusterRole %s in namespace %s: %w", hubClusterRole, cluster.Name, err)
	}
	log.FromContext(ctx).V(1).Info("Rights on the hub are granted", "cluster", cluster.Name, "subject", wanted.Name)
	return nil
}

// subject is whom the hub takes the agent of that cluster for, and that agent
// alone. addon-framework would bind every group of its certificate, one of
// which the agents of all clusters have in common, and any subject that the
// registration agent has reported.
func subject(cluster string, installed *addonv1beta1.ManagedClusterAddOn) rbacv1.Subject {
	for _, registration := range installed.Status.Registrations {
		if registration.Type == addonv1beta1.KubeClient && registration.KubeClient != nil && registration.KubeClient.Driver == tokenDriver {
			// The service account is OCM's, which gives it this name.
			return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: fmt.Sprintf("system:serviceaccount:%s:%s-agent", cluster, Name)}
		}
	}
	return rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: agent.DefaultGroups(cluster, Name)[0]}
}

func bound(existing *rbacv1.RoleBinding, wanted rbacv1.Subject, installed *addonv1beta1.ManagedClusterAddOn) bool {
	owned := len(existing.OwnerReferences) == 1 && existing.OwnerReferences[0].UID == installed.UID
	return owned && equality.Semantic.DeepEqual(existing.Subjects, []rbacv1.Subject{wanted}) && existing.RoleRef.Name == hubClusterRole
}

func binding(cluster string, wanted rbacv1.Subject, installed *addonv1beta1.ManagedClusterAddOn) *applyrbacv1.RoleBindingApplyConfiguration {
	return applyrbacv1.RoleBinding(hubRoleBinding, cluster).
		WithLabels(map[string]string{addonv1beta1.AddonLabelKey: Name, managedByLabel: managedByValue}).
		WithOwnerReferences(applymetav1.OwnerReference().
			WithAPIVersion(addonv1beta1.GroupVersion.String()).WithKind("ManagedClusterAddOn").
			WithName(installed.Name).WithUID(installed.UID)).
		WithSubjects(applyrbacv1.Subject().WithAPIGroup(wanted.APIGroup).WithKind(wanted.Kind).WithName(wanted.Name)).
		WithRoleRef(applyrbacv1.RoleRef().WithAPIGroup(rbacv1.GroupName).WithKind("ClusterRole").WithName(hubClusterRole))
}
