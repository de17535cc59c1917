package versioncmd

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/cli/components"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/report"
)

// read reads the components of a hub. A component that the user may not read is Unknown.
func read(ctx context.Context, hub components.Hub) []report.Component {
	crd := func(ctx context.Context) (*unstructured.Unstructured, error) {
		return hub.Object(ctx, "apiextensions.k8s.io", "v1", "CustomResourceDefinition", client.ObjectKey{Name: fleet.OCMVersionCRD})
	}
	deployment := func(name string) func(context.Context) (*unstructured.Unstructured, error) {
		return func(ctx context.Context) (*unstructured.Unstructured, error) { return hub.Deployment(ctx, name) }
	}
	var read []report.Component
	for _, part := range []struct {
		name      string
		read      func(context.Context) (*unstructured.Unstructured, error)
		versionOf func(*unstructured.Unstructured) string
	}{
		{"Open Cluster Management", crd, func(o *unstructured.Unstructured) string { return o.GetAnnotations()[names.OCMVersion] }},
		{names.AddonManager, deployment(names.AddonManager), components.VersionOf},
		{components.Webhook, deployment(components.Webhook), components.VersionOf},
		{components.Console, deployment(components.Console), components.VersionOf},
		{"addon-agent, as OCM deploys it", hub.Agent, components.VersionOf},
	} {
		component := report.Component{Name: part.name, Status: report.ComponentInstalled}
		object, err := part.read(ctx)
		switch {
		case err != nil:
			component.Status, component.Message = report.ComponentUnknown, err.Error()
		case object == nil:
			component.Status = report.ComponentNotInstalled
		default:
			component.Version = part.versionOf(object)
		}
		read = append(read, component)
	}
	return read
}
