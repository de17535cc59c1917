package lint

import (
	"context"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
)

// hub is the hub or the snapshot that files are checked against. It reads the fleet at most once, and only if a check needs it.
type hub struct {
	source *source.Source
	files  *manifest.Files
	fleet  *snapshot.Snapshot
}

// registrations reads the ClusterManagementAddOns. A snapshot in a file is read as a whole.
func (h *hub) registrations(ctx context.Context) ([]addonv1alpha1.ClusterManagementAddOn, error) {
	if !h.source.IsFile() {
		return h.source.Registrations(ctx)
	}
	fleet, err := h.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return fleet.Registrations, nil
}

// snapshot reads the fleet, with all inputs of the declarations in the files.
func (h *hub) snapshot(ctx context.Context) (*snapshot.Snapshot, error) {
	if h.fleet != nil {
		return h.fleet, nil
	}
	objects := snapshot.Additions{Templates: h.files.AddOnTemplates}
	for i := range h.files.Manifests {
		objects.Registrations = append(objects.Registrations, h.files.Manifests[i].AddOn)
	}
	var err error
	h.fleet, err = h.source.Snapshot(ctx, h.source.Cluster(), objects)
	return h.fleet, err
}
