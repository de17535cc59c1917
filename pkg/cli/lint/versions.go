package lint

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// judgeVersions adds findings on dependencies with a version range, if no version of the add-on on the hub is known.
func (o *options) judgeVersions(
	ctx context.Context, files *manifest.Files, hubRegistrations []addonv1alpha1.ClusterManagementAddOn, hub *hub,
) error {
	registrations, templates := files.Declared(), files.DeclaredTemplates()
	if !report.ComparesVersions(registrations, templates, hubRegistrations) {
		return nil
	}
	fleet, err := hub.snapshot(ctx)
	switch {
	case apierrors.IsForbidden(err): // The registrations could be read, so the other checks were made.
		fmt.Fprintf(o.ErrOut, "Versions of add-ons were not checked: %s\n", text.OneLine(err.Error()))
		return nil
	case err != nil:
		return err
	}
	o.result.Items = append(o.result.Items, report.FindVersionsNotReported(registrations, templates, files.AddOnTemplates, fleet)...)
	return nil
}
