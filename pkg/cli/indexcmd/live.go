package indexcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/offline/index"
	"open-cluster-management.io/interlock/pkg/offline/manifest"
	"open-cluster-management.io/interlock/pkg/text"
)

// pageSize is the number of objects in a page of a list.
const pageSize = 100

// buildLive builds releases from the registrations on the hub. It leaves out registrations that cannot be used, with a note.
func (o *options) buildLive(ctx context.Context) ([]index.Entry, error) {
	hub, err := o.source.WholeReader()
	if err != nil {
		return nil, err
	}
	registrations, err := list(ctx, hub, "ClusterManagementAddOn")
	if err != nil {
		return nil, err
	}
	if err := o.checkVersions(registrations); err != nil {
		return nil, err
	}
	if len(registrations) == 0 {
		fmt.Fprintln(o.ErrOut, "The hub has no ClusterManagementAddOn, so nothing was added.")
	}
	templates, err := list(ctx, hub, "AddOnTemplate")
	if err != nil {
		return nil, err
	}
	var configs []manifest.Object
	hasConfigurations := func(object manifest.Object) bool { return index.HasConfigurations(&object.Unstructured) }
	if slices.ContainsFunc(registrations, hasConfigurations) {
		if configs, err = list(ctx, hub, "AddOnDeploymentConfig"); err != nil {
			return nil, err
		}
	}
	var entries []index.Entry
	for _, registration := range registrations {
		addOnEntries, err := o.buildRegistration(registration, templates, configs)
		if err != nil {
			fmt.Fprintln(o.ErrOut, text.OneLine(fmt.Sprintf("left out: %v", advise(err))))
			continue
		}
		entries = append(entries, addOnEntries...)
	}
	return entries, nil
}

// buildRegistration builds the release of an add-on from its registration, its AddOnTemplates, and its AddOnDeploymentConfigs.
func (o *options) buildRegistration(registration manifest.Object, templates, configs []manifest.Object) ([]index.Entry, error) {
	objects := []manifest.Object{registration}
	for _, template := range templates {
		if owner, _, _ := unstructured.NestedString(template.Object, "spec", "addonName"); owner == registration.GetName() {
			objects = append(objects, template)
		}
	}
	for _, config := range configs {
		if index.Configures(&config.Unstructured, &registration.Unstructured) {
			objects = append(objects, config)
		}
	}
	if err := checkStored(objects); err != nil {
		return nil, err
	}
	return index.Build(objects, cmp.Or(o.origin, "a hub"), o.versions)
}

// list reads all objects of a kind of add-ons.
func list(ctx context.Context, hub client.Reader, kind string) ([]manifest.Object, error) {
	var objects []manifest.Object
	for token := ""; ; {
		var page unstructured.UnstructuredList
		page.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind(kind + "List"))
		if err := hub.List(ctx, &page, client.Limit(pageSize), client.Continue(token)); err != nil {
			return nil, err
		}
		for _, object := range page.Items {
			objects = append(objects, manifest.Object{Path: "hub", Unstructured: object})
		}
		if token = page.GetContinue(); token == "" {
			return objects, nil
		}
	}
}
