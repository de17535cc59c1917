package lint

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/manifest"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// judgeVersions adds the dependencies on versions that are not known, if the files have any on add-ons of the hub.
func (o *options) judgeVersions(
	ctx context.Context, files *manifest.Files, registered []addonv1alpha1.ClusterManagementAddOn, against *hub,
) error {
	declared, templates := files.Declared(), files.DeclaredTemplates()
	if !report.ComparesVersions(declared, templates, registered) {
		return nil
	}
	fleet, err := against.snapshot(ctx)
	switch {
	case apierrors.IsForbidden(err): // the registrations could be read, so all else was checked
		fmt.Fprintf(o.ErrOut, "Versions of add-ons were not checked: %s\n", text.OneLine(err.Error()))
		return nil
	case err != nil:
		return err
	}
	o.found.Items = append(o.found.Items, report.FindVersionsNotReported(declared, templates, files.AddOnTemplates, fleet)...)
	return nil
}
