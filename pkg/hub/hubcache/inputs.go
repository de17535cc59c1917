package hubcache

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// Inputs reads all that evaluation needs: objects from the cache, the rest from lazy
// watches and from what agents report.
type Inputs struct {
	Reader
	// Configs reports whether AddOnDeploymentConfigs are in the cache.
	Configs interface{ Ready() bool }
	// Templates has the versions of AddOnTemplates, and OCM that of Open Cluster
	// Management, as the version of fleet.OCMVersionCRD.
	Templates, OCM Versions
	// Reported has what agents report.
	Reported interface {
		Facts(ctx context.Context, declared *catalog.Catalog, cluster string) (evaluation.Facts, error)
	}
}

// Versions has versions of objects by name. Ready reports whether they were read.
type Versions interface {
	Ready() bool
	Version(name string) string
}

var _ fleet.Reader = Inputs{}

// Config implements fleet.Reader.
func (i Inputs) Config(ctx context.Context, key types.NamespacedName) (variables map[string]string, read bool, err error) {
	if !i.Configs.Ready() {
		return nil, false, nil
	}
	return i.Reader.Config(ctx, key)
}

// TemplateVersion implements fleet.Reader.
func (i Inputs) TemplateVersion(_ context.Context, name string) (version string, read bool, err error) {
	version, read = versionOf(i.Templates, name)
	return version, read, nil
}

// OCMVersion implements fleet.Reader.
func (i Inputs) OCMVersion(context.Context) (version string, read bool, err error) {
	version, read = versionOf(i.OCM, fleet.OCMVersionCRD)
	return version, read, nil
}

func versionOf(all Versions, name string) (version string, read bool) {
	if !all.Ready() {
		return "", false
	}
	return all.Version(name), true
}

// Facts implements fleet.Reader.
func (i Inputs) Facts(ctx context.Context, declared *catalog.Catalog, cluster string) (evaluation.Facts, error) {
	return i.Reported.Facts(ctx, declared, cluster)
}
