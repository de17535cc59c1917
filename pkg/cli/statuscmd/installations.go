package statuscmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// noteInstallations prints how many add-ons of Interlock wait for something else than dependencies, such as an approval. They are no rows,
// because most of them are not installed.
func (o *options) noteInstallations(ctx context.Context) error {
	if !o.waiting || o.flags.Chosen() {
		return nil
	}
	reasons := map[string]int{}
	err := o.eachInstallation(ctx, func(stored *dependencyv1alpha1.AddOnInstallation) {
		reason := snapshot.InstallationReason(stored)
		isNamed := o.name == "" || stored.Name == o.name
		if isNamed && o.hasCluster(stored.Namespace) && reason != "" && reason != string(stored.Status.Phase) {
			reasons[text.Name(reason)]++
		}
	})
	if err != nil || len(reasons) == 0 {
		return err
	}
	total, described := 0, make([]string, 0, len(reasons))
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		total += reasons[reason]
		described = append(described, fmt.Sprintf("%s (%d)", reason, reasons[reason]))
	}
	fmt.Fprintf(o.ErrOut, "The next step of %s of Interlock waits: %s. kubectl get addoninstallations -A shows them.\n",
		text.Count(total, "add-on"), strings.Join(described, ", "))
	return nil
}

// eachInstallation calls a function with each AddOnInstallation. There are none on a hub without Interlock, and for a user who may not read
// them.
func (o *options) eachInstallation(ctx context.Context, call func(*dependencyv1alpha1.AddOnInstallation)) error {
	each := func(stored []dependencyv1alpha1.AddOnInstallation) {
		for i := range stored {
			call(&stored[i])
		}
	}
	if o.source.IsFile() {
		hub, err := o.source.Snapshot(ctx, o.namespace)
		if err == nil {
			each(hub.Installations)
		}
		return err
	}
	hub, host, err := o.source.Connect()
	if err != nil {
		return err
	}
	err = snapshot.Each(ctx, hub, "addoninstallations", o.namespace, func(page *dependencyv1alpha1.AddOnInstallationList) { each(page.Items) })
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil
	}
	return source.HubError(err, host)
}
