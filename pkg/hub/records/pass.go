package records

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/kube/events"
	"open-cluster-management.io/interlock/pkg/names"
)

const (
	pageSize = 20 // one object may have 1.5 MiB
	// maxNamed is the maximum number of add-ons in a message.
	maxNamed = 5
)

// Require writes missing records. It returns an error if the fields of a registered add-on are
// not recorded, because they could not be restored after a CRD has lacked them for a while.
func Require(ctx context.Context, hub client.Client) error {
	p, err := run(ctx, hub, recordsOnly)
	if err != nil || len(p.unrecorded) == 0 {
		return err
	}
	named := p.unrecorded[:min(len(p.unrecorded), maxNamed)]
	suffix := ""
	if unnamed := len(p.unrecorded) - len(named); unnamed > 0 {
		suffix = fmt.Sprintf(" and %d more", unnamed)
	}
	return fmt.Errorf("the fields in spec of ClusterManagementAddOns %s%s would be lost, because their annotation %s does not record them. "+
		"Make the annotation of each mean the same as its fields, or remove the annotation, and Interlock writes it",
		strings.Join(named, ", "), suffix, addonv1alpha1.DependenciesAnnotation)
}

// pass is the result of one pass over all registered add-ons.
type pass struct {
	// restored has the add-ons whose fields were written back.
	restored []*unstructured.Unstructured
	// lost has the add-ons that still lack fields of their record.
	lost []string
	// unrecorded has the add-ons with fields that have no record.
	unrecorded []string
	// failed is the number of failed writes.
	failed int
}

// writes limits the writes of a pass.
type writes int

const (
	nothing writes = iota
	recordsOnly
	recordsAndFields
)

// run reads all registered add-ons from the API server. It writes their records and restores
// their fields, as far as these writes are allowed.
func run(ctx context.Context, hub client.Client, allowed writes) (pass, error) {
	var p pass
	page := &unstructured.UnstructuredList{}
	page.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind(events.ClusterManagementAddOn + "List"))
	for {
		err := hub.List(ctx, page, client.Limit(pageSize), client.Continue(page.GetContinue()))
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) { // no CRD, no declarations
			return p, nil
		}
		if err != nil {
			return p, fmt.Errorf("list registered add-ons: %w", err)
		}
		for i := range page.Items {
			p.keep(ctx, hub, &page.Items[i], allowed)
		}
		if page.GetContinue() == "" {
			return p, nil
		}
	}
}

// keep writes the record of an add-on, and restores its lost fields. After a conflict it tries
// again at once, because an add-on that is written often would wait for long otherwise.
func (p *pass) keep(ctx context.Context, hub client.Client, addOn *unstructured.Unstructured, allowed writes) {
	if allowed == nothing {
		p.add(declarationOf(addOn), addOn, false)
		return
	}
	var updated *unstructured.Unstructured
	var restored bool
	var problem string
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if updated != nil {
			if err := reread(ctx, hub, addOn); err != nil {
				return err
			}
		}
		updated, restored, problem = desired(addOn, allowed)
		if restored { // right after a graft, a list may lack stored fields, and it has no field owners
			if err := hub.Get(ctx, client.ObjectKeyFromObject(addOn), addOn); err != nil {
				return err
			}
			updated, restored, problem = desired(addOn, recordsAndFields)
		}
		if equality.Semantic.DeepEqual(addOn.Object, updated.Object) {
			return nil
		}
		if err := write(ctx, hub, addOn, updated); err != nil || !restored {
			return err
		}
		return giveUp(ctx, hub, updated, addOn.GetManagedFields())
	})
	if apierrors.IsNotFound(err) {
		return
	}
	if err != nil {
		updated, problem = addOn, err.Error()
		p.failed++
	}
	if problem != "" {
		log.FromContext(ctx).Info("Cannot keep a declaration", "addOn", addOn.GetName(), "reason", problem)
	}
	p.add(declarationOf(updated), updated, restored)
}

func write(ctx context.Context, hub client.Client, old, updated *unstructured.Unstructured) error {
	changes := client.MergeFromWithOptions(old, client.MergeFromWithOptimisticLock{})
	return hub.Patch(ctx, updated, changes, client.FieldOwner(names.AddonManager))
}

// giveUp writes the previous field owners. The API server makes Interlock the owner of the
// fields that it restores. The author's server-side apply would conflict, and could not
// remove the fields.
func giveUp(ctx context.Context, hub client.Client, addOn *unstructured.Unstructured, owners []metav1.ManagedFieldsEntry) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		owned := addOn.DeepCopy()
		if addOn.SetManagedFields(owners); equality.Semantic.DeepEqual(owned.Object, addOn.Object) {
			return nil
		}
		err := write(ctx, hub, owned, addOn)
		if apierrors.IsConflict(err) && hub.Get(ctx, client.ObjectKeyFromObject(addOn), addOn) == nil {
			owners = slices.DeleteFunc(addOn.GetManagedFields(), func(owner metav1.ManagedFieldsEntry) bool {
				return owner.Manager == names.AddonManager
			})
		}
		return err
	})
}

// reread reads the current version of an add-on. It uses a list, because the uninstaller has
// no right to get objects.
func reread(ctx context.Context, hub client.Client, addOn *unstructured.Unstructured) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind(events.ClusterManagementAddOn + "List"))
	if err := hub.List(ctx, list, client.MatchingFields{"metadata.name": addOn.GetName()}); err != nil {
		return fmt.Errorf("read %s again: %w", addOn.GetName(), err)
	}
	if len(list.Items) == 0 {
		resource := schema.GroupResource{Group: addonv1alpha1.GroupVersion.Group, Resource: "clustermanagementaddons"}
		return apierrors.NewNotFound(resource, addOn.GetName())
	}
	*addOn = list.Items[0]
	return nil
}

// desired returns the add-on with its record and, if fields may be written, with its lost
// fields. restored reports whether it adds fields. problem is the reason for a missing record.
func desired(addOn *unstructured.Unstructured, allowed writes) (updated *unstructured.Unstructured, restored bool, problem string) {
	updated = addOn.DeepCopy()
	current := declarationOf(updated)
	annotations, problem := declaration.Keep(nil, current, nil)
	if !maps.Equal(annotations, current.Annotations) {
		updated.SetAnnotations(annotations)
	}
	lost := declarationOf(updated).Restore()
	if allowed != recordsAndFields || lost == nil || addOn.GetDeletionTimestamp() != nil {
		return updated, false, problem
	}
	for name, value := range lost {
		_ = unstructured.SetNestedField(updated.Object, value, "spec", name) // spec is an object, or absent
	}
	return updated, true, problem
}

func (p *pass) add(current declaration.Written, addOn *unstructured.Unstructured, restored bool) {
	switch {
	case current.Restore() != nil:
		p.lost = append(p.lost, addOn.GetName())
	case restored:
		p.restored = append(p.restored, addOn)
	}
	if !current.Recorded() {
		p.unrecorded = append(p.unrecorded, addOn.GetName())
	}
}

func declarationOf(addOn *unstructured.Unstructured) declaration.Written {
	spec, _ := addOn.Object["spec"].(map[string]any)
	return declaration.WrittenOf(addOn.GetAnnotations(), spec)
}
