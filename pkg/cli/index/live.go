package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/index"
	"open-cluster-management.io/interlock/pkg/manifest"
	"open-cluster-management.io/interlock/pkg/text"
)

// page is how many objects are read at once.
const page = 100

// buildLive makes releases of what is registered on the hub. One that cannot be used is left out, with a note.
func (o *options) buildLive(ctx context.Context) ([]index.Entry, error) {
	hub, err := o.from.WholeReader()
	if err != nil {
		return nil, err
	}
	registered, err := list(ctx, hub, "ClusterManagementAddOn")
	if err != nil {
		return nil, err
	}
	if err := o.checkVersions(registered); err != nil {
		return nil, err
	}
	if len(registered) == 0 {
		fmt.Fprintln(o.ErrOut, "The hub has no ClusterManagementAddOn, so nothing was added.")
	}
	templates, err := list(ctx, hub, "AddOnTemplate")
	if err != nil {
		return nil, err
	}
	var configs []manifest.Object
	if slices.ContainsFunc(registered, func(one manifest.Object) bool { return index.HasConfigurations(&one.Unstructured) }) {
		if configs, err = list(ctx, hub, "AddOnDeploymentConfig"); err != nil {
			return nil, err
		}
	}
	var entries []index.Entry
	for _, one := range registered {
		made, err := o.buildOne(one, templates, configs)
		if err != nil {
			fmt.Fprintln(o.ErrOut, text.OneLine(fmt.Sprintf("left out: %v", advise(err))))
			continue
		}
		entries = append(entries, made...)
	}
	return entries, nil
}

// buildOne makes the release of one add-on, with what belongs to it.
func (o *options) buildOne(one manifest.Object, templates, configs []manifest.Object) ([]index.Entry, error) {
	for _, name := range index.DefaultTemplates(&one.Unstructured) {
		if !slices.ContainsFunc(templates, func(template manifest.Object) bool { return template.GetName() == name }) {
			return nil, fmt.Errorf("%s: add-on %q: the hub does not have its default AddOnTemplate %q",
				one.Path, text.Name(one.GetName()), text.Name(name))
		}
	}
	objects := []manifest.Object{one}
	for _, template := range templates {
		if owner, _, _ := unstructured.NestedString(template.Object, "spec", "addonName"); owner == one.GetName() {
			objects = append(objects, template)
		}
	}
	for _, config := range configs {
		if index.Configures(&config.Unstructured, &one.Unstructured) {
			objects = append(objects, config)
		}
	}
	return index.Build(objects, cmp.Or(o.source, "a hub"), o.versions)
}

// list reads all objects of a kind of add-ons.
func list(ctx context.Context, hub client.Reader, kind string) (all []manifest.Object, err error) {
	for next := ""; ; {
		var some unstructured.UnstructuredList
		some.SetGroupVersionKind(addonv1alpha1.GroupVersion.WithKind(kind + "List"))
		if err := hub.List(ctx, &some, client.Limit(page), client.Continue(next)); err != nil {
			return nil, err
		}
		for _, one := range some.Items {
			all = append(all, manifest.Object{Path: "hub", Unstructured: one})
		}
		if next = some.GetContinue(); next == "" {
			return all, nil
		}
	}
}
