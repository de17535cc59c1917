package ondemand

import (
	"context"
	"fmt"
	"time"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/names"
)

// storedIn returns the part of an AddOnInstallation that decisions depend on.
func storedIn(object *dependencyv1alpha1.AddOnInstallation) *installation.Installation {
	status := &object.Status
	stored := &installation.Installation{
		Requests:    object.Spec.RequestedBy,
		Phase:       status.Phase,
		UID:         status.UID,
		Generation:  status.Generation,
		ClusterUID:  status.ClusterUID,
		Since:       timeOf(status.Since),
		UnusedSince: timeOf(status.UnusedSince), LabeledSince: timeOf(status.LabeledSince),
	}
	if status.Undone != nil {
		stored.Undone = installation.Undone{Count: int(status.Undone.Count), Last: status.Undone.Last.Time, Retry: status.Undone.Again.Time}
	}
	return stored
}

func timeOf(t *metav1.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

func moment(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	rounded := metav1.NewTime(t).Rfc3339Copy()
	return &rounded
}

// write sets the stored state of an installation.
func write(object *dependencyv1alpha1.AddOnInstallation, desired *installation.Installation, condition metav1.Condition) {
	object.Spec.RequestedBy = desired.Requests
	status := &object.Status
	status.Phase, status.UID, status.Generation, status.ClusterUID = desired.Phase, desired.UID, desired.Generation, desired.ClusterUID
	status.Since, status.UnusedSince, status.Undone = moment(desired.Since), moment(desired.UnusedSince), nil
	status.LabeledSince = moment(desired.LabeledSince)
	if desired.Undone.Count > 0 {
		status.Undone = &dependencyv1alpha1.Undone{
			Count: int32(min(desired.Undone.Count, 1000)), //nolint:gosec // it is not larger
			Last:  *moment(desired.Undone.Last), Again: *moment(desired.Undone.Retry),
		}
	}
	meta.SetStatusCondition(&status.Conditions, condition)
}

// store stores a decision, and updates the subject with the stored object. It writes nothing if the object does not
// change.
func (r *Reconciler) store(ctx context.Context, s *subject, desired *installation.Installation, condition metav1.Condition) error {
	switch {
	case s.object == nil && desired == nil:
		return nil
	case s.object == nil:
		return r.createObject(ctx, s, desired, condition)
	case desired == nil:
		err := r.Writer.Delete(ctx, s.object.DeepCopy(), client.Preconditions{UID: &s.object.UID, ResourceVersion: &s.object.ResourceVersion})
		return wrap("delete", s, client.IgnoreNotFound(err))
	}
	changed := s.object.DeepCopy()
	if write(changed, desired, condition); apiequality.Semantic.DeepEqual(changed, s.object) {
		return nil
	}
	if err := r.Writer.Update(ctx, changed, client.FieldOwner(names.AddonManager)); err != nil {
		return wrap("update", s, err)
	}
	s.object = changed
	return nil
}

func (r *Reconciler) createObject(
	ctx context.Context, s *subject, desired *installation.Installation, condition metav1.Condition,
) error {
	created := &dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: s.key.Namespace, Name: s.key.Name}}
	write(created, desired, condition)
	if err := r.Writer.Create(ctx, created, client.FieldOwner(names.AddonManager)); err != nil {
		return wrap("create", s, err)
	}
	s.object = created
	return nil
}

func wrap(verb string, s *subject, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s AddOnInstallation %s: %w", verb, s.key, err)
}
