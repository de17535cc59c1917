package installation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/names"
)

const (
	// perDecision is how many managed clusters one PlacementDecision has: as many as OCM puts into one.
	perDecision = 100
	// notScheduled keeps OCM's placement controller from deciding on a Placement.
	notScheduled = "cluster.open-cluster-management.io/experimental-scheduling-disable"
)

// ours are the objects that this controller has created.
var ours = client.MatchingLabels{names.ManagedBy: names.AddonManager}

// placements are the managed clusters on which Interlock's Placements have add-ons installed, by add-on.
type placements map[string]*placed

type placed struct {
	// stored are the clusters of each PlacementDecision, and decided what they are to be.
	stored, decided map[string][]string
	// marks are, by PlacementDecision and managed cluster, since when the add-on is not needed there, as it is stored.
	marks map[string]marks
	// believed are the PlacementDecisions whose marks Interlock has written, and no other writer.
	believed sets.Set[string]
	// versions are those of the PlacementDecisions that are stored.
	versions map[string]string
	// added are the clusters that are to be added, and dropped those that are to be removed because the add-on is not needed there.
	added, dropped []string
	// exists: the Placement does.
	exists bool
}

// readPlaced reads Interlock's Placements and their PlacementDecisions. They are read from the API server: no other component
// needs them in a cache.
func (r *Reconciler) readPlaced(ctx context.Context) (placements, error) {
	var existing clusterv1beta1.PlacementList
	if err := r.Live.List(ctx, &existing, client.InNamespace(addonv1alpha1.InstallNamespace), ours); err != nil {
		return nil, fmt.Errorf("list Placements in namespace %s: %w", addonv1alpha1.InstallNamespace, err)
	}
	all := placements{}
	for i := range existing.Items {
		all.of(existing.Items[i].Name).exists = true
	}
	var list clusterv1beta1.PlacementDecisionList
	if err := r.Live.List(ctx, &list, client.InNamespace(addonv1alpha1.InstallNamespace), ours); err != nil {
		return nil, fmt.Errorf("list PlacementDecisions in namespace %s: %w", addonv1alpha1.InstallNamespace, err)
	}
	for i := range list.Items {
		one := &list.Items[i]
		addOn := one.Labels[clusterv1beta1.PlacementLabel]
		if addOn == "" || !strings.HasPrefix(one.Name, decisionPrefix(addOn)) {
			continue // another component's
		}
		clusters := make([]string, 0, len(one.Status.Decisions))
		for _, decision := range one.Status.Decisions {
			clusters = append(clusters, decision.ClusterName)
		}
		of := all.of(addOn)
		of.stored[one.Name], of.decided[one.Name] = clusters, clusters
		of.marks[one.Name], of.versions[one.Name] = readMarks(one.Annotations[addonv1alpha1.UnusedSinceAnnotation]), one.ResourceVersion
		if installation.MarkedBy(names.AddonManager, one.ManagedFields) {
			of.believed.Insert(one.Name)
		}
	}
	return all, nil
}

func decisionPrefix(addOn string) string { return addOn + "-interlock-" }

func (p placements) of(addOn string) *placed {
	if p[addOn] == nil {
		p[addOn] = &placed{
			stored: map[string][]string{}, decided: map[string][]string{}, marks: map[string]marks{}, versions: map[string]string{},
			believed: sets.New[string](),
		}
	}
	return p[addOn]
}

// has reports whether it is decided already that a target is installed.
func (p placements) has(target installation.Target) bool {
	of := p[target.AddOn]
	if of == nil {
		return false
	}
	for _, clusters := range of.stored {
		if slices.Contains(clusters, target.Cluster) {
			return true
		}
	}
	return false
}

// marked returns the targets that have a mark.
func (p placements) marked() sets.Set[installation.Target] {
	all := sets.New[installation.Target]()
	for addOn, of := range p {
		for _, marks := range of.marks {
			for cluster := range marks {
				all.Insert(installation.Target{Cluster: cluster, AddOn: addOn})
			}
		}
	}
	return all
}

// add adds a target to the first PlacementDecision that has room.
func (p placements) add(target installation.Target) {
	of := p.of(target.AddOn)
	of.added = append(of.added, target.Cluster)
	for i := 1; ; i++ {
		name := fmt.Sprintf("%s%d", decisionPrefix(target.AddOn), i)
		if clusters := of.decided[name]; len(clusters) < perDecision {
			of.decided[name] = append(slices.Clone(clusters), target.Cluster)
			return
		}
	}
}

// drop drops a target from the PlacementDecision that has it.
func (p placements) drop(target installation.Target) {
	of := p.of(target.AddOn)
	of.dropped = append(of.dropped, target.Cluster)
	for name, clusters := range of.decided {
		of.decided[name] = slices.DeleteFunc(slices.Clone(clusters), func(cluster string) bool { return cluster == target.Cluster })
	}
}

// keep drops the managed clusters that are gone.
func (p placements) keep(exists func(cluster string) bool) {
	for _, of := range p {
		for name, clusters := range of.decided {
			of.decided[name] = slices.DeleteFunc(slices.Clone(clusters), func(cluster string) bool { return !exists(cluster) })
		}
	}
}

// applyPlaced writes the Placement of an add-on, and those of its decisions that have changed. It calls done with what is being
// installed.
func (r *Reconciler) applyPlaced(ctx context.Context, addOn string, all placements, done func(installation.Target)) error {
	key, of := catalog.OnDemandPlacement(addOn), all.of(addOn)
	if !of.exists {
		if err := r.createNamespace(ctx); err != nil {
			return err
		}
		err := r.Writer.Create(ctx, &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: key.Name, Labels: ours, Annotations: map[string]string{notScheduled: "true"},
		}}, client.FieldOwner(names.AddonManager))
		if err != nil {
			return fmt.Errorf("create Placement %s: %w", key, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(of.decided)) {
		if err := r.recheck(ctx, of, name); err != nil {
			return err
		}
		if slices.Equal(of.decided[name], of.stored[name]) {
			continue
		}
		if err := r.applyDecision(ctx, addOn, name, of.decided[name]); err != nil {
			return err
		}
		for _, cluster := range of.added {
			if slices.Contains(of.decided[name], cluster) {
				done(installation.Target{Cluster: cluster, AddOn: addOn})
			}
		}
		for _, cluster := range of.dropped {
			if slices.Contains(of.stored[name], cluster) {
				r.removed(installation.Target{Cluster: cluster, AddOn: addOn})
			}
		}
	}
	return nil
}

// createNamespace creates the namespace of Interlock's Placements. It is no part of what is deployed: deleting that must not have
// OCM remove what it installed.
func (r *Reconciler) createNamespace(ctx context.Context) error {
	namespace := &unstructured.Unstructured{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace")) // no other controller needs its type
	namespace.SetName(addonv1alpha1.InstallNamespace)
	namespace.SetLabels(ours)
	err := r.Writer.Create(ctx, namespace, client.FieldOwner(names.AddonManager))
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", addonv1alpha1.InstallNamespace, err)
	}
	return nil
}

// applyDecision writes a PlacementDecision. OCM then installs the add-on on its managed clusters.
func (r *Reconciler) applyDecision(ctx context.Context, addOn, name string, clusters []string) error {
	key := client.ObjectKey{Namespace: addonv1alpha1.InstallNamespace, Name: name}
	decision := &clusterv1beta1.PlacementDecision{}
	err := r.Live.Get(ctx, key, decision)
	if apierrors.IsNotFound(err) {
		decision.ObjectMeta = metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{
			names.ManagedBy: names.AddonManager, clusterv1beta1.PlacementLabel: addOn, clusterv1beta1.DecisionGroupIndexLabel: "0",
			clusterv1beta1.DecisionGroupNameLabel: "",
		}}
		err = r.Writer.Create(ctx, decision, client.FieldOwner(names.AddonManager))
	}
	if err != nil {
		return fmt.Errorf("create PlacementDecision %s: %w", key, err)
	}
	decision.Status.Decisions = make([]clusterv1beta1.ClusterDecision, 0, len(clusters))
	for _, cluster := range clusters {
		decision.Status.Decisions = append(decision.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
	}
	if err := r.Writer.Status().Update(ctx, decision, client.FieldOwner(names.AddonManager)); err != nil {
		return fmt.Errorf("write the status of PlacementDecision %s: %w", key, err)
	}
	log.FromContext(ctx).Info("PlacementDecision written, so that OCM installs the add-on there, and only there", "addOn", addOn, "placementDecision", key, "clusters", len(clusters))
	return nil
}

// deleteUnlisted deletes the Placements of add-ons whose owners no longer consent: OCM has removed what they installed, and it must
// not come back by itself.
func (r *Reconciler) deleteUnlisted(ctx context.Context, declared *evaluation.Evaluator, all placements) error {
	for _, addOn := range slices.Sorted(maps.Keys(all)) {
		if declared.Consent(addOn) == catalog.ByPlacement {
			continue
		}
		key := catalog.OnDemandPlacement(addOn)
		objects := []client.Object{&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}}
		for _, name := range slices.Sorted(maps.Keys(all[addOn].stored)) {
			objects = append(objects, &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name}})
		}
		for _, object := range objects {
			if err := r.Writer.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("delete %T %s: %w", object, client.ObjectKeyFromObject(object), err)
			}
		}
		log.FromContext(ctx).Info("Placement deleted, because the registration of its add-on does not list it", "placement", key)
	}
	return nil
}
