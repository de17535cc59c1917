package installation

import (
	"context"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/installation"
	"open-cluster-management.io/interlock/pkg/names"
)

// storedIn is what a decision reads of an AddOnInstallation.
func storedIn(object *dependencyv1alpha1.AddOnInstallation) *installation.Installation {
	status := &object.Status
	stored := &installation.Installation{
		Requests: object.Spec.RequestedBy, Phase: status.Phase, UID: status.UID, Generation: status.Generation, ClusterUID: status.ClusterUID,
		Since: timeOf(status.Since), UnusedSince: timeOf(status.UnusedSince),
	}
	if status.Undone != nil {
		stored.Undone = installation.Undone{Count: int(status.Undone.Count), Last: status.Undone.Last.Time, Again: status.Undone.Again.Time}
	}
	return stored
}

func timeOf(moment *metav1.Time) time.Time {
	if moment == nil {
		return time.Time{}
	}
	return moment.Time
}

func moment(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	rounded := metav1.NewTime(at).Rfc3339Copy()
	return &rounded
}

// write sets what is stored of an installation.
func write(object *dependencyv1alpha1.AddOnInstallation, desired *installation.Installation, condition metav1.Condition) {
	object.Spec.RequestedBy = desired.Requests
	status := &object.Status
	status.Phase, status.UID, status.Generation, status.ClusterUID = desired.Phase, desired.UID, desired.Generation, desired.ClusterUID
	status.Since, status.UnusedSince, status.Undone = moment(desired.Since), moment(desired.UnusedSince), nil
	if desired.Undone.Count > 0 {
		status.Undone = &dependencyv1alpha1.Undone{
			Count: int32(min(desired.Undone.Count, 1000)), Last: *moment(desired.Undone.Last), Again: *moment(desired.Undone.Again),
		}
	}
	meta.SetStatusCondition(&status.Conditions, condition)
}

// store stores a decision. Nothing is written if it is stored already. It returns the object as it is stored; nil: there is none.
func (r *Reconciler) store(
	ctx context.Context, of subject, desired *installation.Installation, condition metav1.Condition,
) (*dependencyv1alpha1.AddOnInstallation, error) {
	if of.object == nil {
		return r.createObject(ctx, of, desired, condition)
	}
	if desired == nil {
		err := r.Writer.Delete(ctx, of.object.DeepCopy(), client.Preconditions{UID: &of.object.UID, ResourceVersion: &of.object.ResourceVersion})
		return nil, written("delete", of, client.IgnoreNotFound(err))
	}
	changed := of.object.DeepCopy()
	if write(changed, desired, condition); reflect.DeepEqual(changed, of.object) {
		return of.object, nil
	}
	err := r.Writer.Update(ctx, changed, client.FieldOwner(names.AddonManager))
	return changed, written("update", of, err)
}

func (r *Reconciler) createObject(
	ctx context.Context, of subject, desired *installation.Installation, condition metav1.Condition,
) (*dependencyv1alpha1.AddOnInstallation, error) {
	if desired == nil {
		return nil, nil
	}
	created := &dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: of.key.Namespace, Name: of.key.Name}}
	write(created, desired, condition)
	err := r.Writer.Create(ctx, created, client.FieldOwner(names.AddonManager))
	return created, written("create", of, err)
}

func written(verb string, of subject, err error) error {
	if err == nil || apierrors.IsConflict(err) {
		return err
	}
	return fmt.Errorf("%s AddOnInstallation %s: %w", verb, of.key, err)
}
