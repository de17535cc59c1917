package lossless

import (
	"context"
	"fmt"
	"maps"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	versionutil "k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
	"open-cluster-management.io/interlock/pkg/compat/graft"
	"open-cluster-management.io/interlock/pkg/names"
)

// stock is OCM's CRD as its operator writes it.
var stock *unstructured.Unstructured

func rememberCRD(ctx context.Context) {
	GinkgoHelper()
	stock = presentCRD(ctx)
	stock.SetManagedFields(nil)
	stock.SetUID("")
	stock.SetResourceVersion("")
	unstructured.RemoveNestedField(stock.Object, "status")
}

func presentCRD(ctx context.Context) *unstructured.Unstructured {
	GinkgoHelper()
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	Expect(admin.Get(ctx, client.ObjectKey{Name: graft.CRDName}, crd)).To(Succeed())
	return crd
}

// specs returns the schemas of spec, by version.
func specs(crd *unstructured.Unstructured) map[string]map[string]any {
	schemas := map[string]map[string]any{}
	versions, _, _ := unstructured.NestedFieldNoCopy(crd.Object, "spec", "versions")
	for _, version := range versions.([]any) {
		entry := version.(map[string]any)
		schema, _, _ := unstructured.NestedFieldNoCopy(entry, "schema", "openAPIV3Schema", "properties", "spec", "properties")
		schemas[entry["name"].(string)] = schema.(map[string]any)
	}
	return schemas
}

// isGrafted reports whether every version has every field of a declaration, as deep as declarations go, and Interlock's conversion keeps
// them.
func isGrafted(ctx context.Context) func() bool {
	return func() bool {
		crd := presentCRD(ctx)
		for _, spec := range specs(crd) {
			for _, field := range addonv1alpha1.GraftedSpecFields() {
				if spec[field] == nil {
					return false
				}
			}
			condition, _, _ := unstructured.NestedMap(spec, "dependencies", "items", "properties", "when")
			if condition == nil {
				return false
			}
		}
		return crdgraft.Grafted(crd.Object)
	}
}

func hasFields(ctx context.Context) bool {
	return specs(presentCRD(ctx))["v1alpha1"]["dependencies"] != nil
}

// putCRD writes OCM's CRD with another version, as applyOne of ocm 1.2.1, pkg/operator/operators/crdmanager/manager.go, does.
// Annotations of other
// writers do not stay.
func putCRD(ctx context.Context, version string) {
	GinkgoHelper()
	putCRDWith(ctx, version, func(*unstructured.Unstructured) {})
}

func putCRDWith(ctx context.Context, version string, change func(crd *unstructured.Unstructured)) {
	GinkgoHelper()
	Eventually(func() error {
		crd := stock.DeepCopy()
		change(crd)
		annotations := maps.Clone(stock.GetAnnotations())
		annotations[names.OCMVersion] = version
		crd.SetAnnotations(annotations)
		crd.SetResourceVersion(presentCRD(ctx).GetResourceVersion())
		return admin.Update(ctx, crd, client.FieldOwner("operator"))
	}).Should(Succeed())
}

// gitOps is the interval at which the GitOps tool restores OCM's CRD.
const gitOps = 10 * time.Second

// startGitOps restores OCM's CRD until the spec ends, and sends how often it has: first by a replacement, then by server-side apply,
// which keeps annotations of other writers.
func startGitOps(ctx context.Context) <-chan int {
	ctx, cancel := context.WithCancel(ctx)
	rounds, exit := make(chan int), make(chan struct{})
	go func() {
		defer close(exit)
		defer GinkgoRecover()
		ticker := time.NewTicker(gitOps)
		defer ticker.Stop()
		for round := 1; ; round++ {
			if round == 1 {
				putCRD(ctx, laterVersion(0))
			} else {
				_ = admin.Apply(ctx, client.ApplyConfigurationFromUnstructured(stock.DeepCopy()), client.FieldOwner("gitops"), client.ForceOwnership)
			}
			select {
			case rounds <- round:
			case <-ctx.Done():
				return
			}
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	DeferCleanup(func() { cancel(); <-exit })
	return rounds
}

// laterVersion returns the version of OCM after a number of minor releases.
func laterVersion(releases uint) string {
	version := versionutil.MustParseGeneric(stock.GetAnnotations()[names.OCMVersion])
	return version.WithMinor(version.Minor() + releases).String()
}

// proposed is the field as in the proposal.
const proposed = `
description: dependencies is a list of add-ons that this add-on depends on.
type: array
items:
  type: object
  required: [name]
  properties:
    name: {type: string, minLength: 1}
    type: {type: string, enum: [Optional, Required], default: Required}
    message: {type: string}
`

func withProposedField(crd *unstructured.Unstructured) {
	for _, spec := range specs(crd) {
		field := map[string]any{}
		if err := yaml.Unmarshal([]byte(proposed), &field); err != nil {
			panic(err)
		}
		field["items"].(map[string]any)["properties"].(map[string]any)["name"].(map[string]any)["minLength"] = int64(1)
		spec["dependencies"] = field
	}
}

// graftOlder replaces the graft of the CRD as an Interlock that knows fewer fields does.
func graftOlder(ctx context.Context) {
	GinkgoHelper()
	Eventually(func() error {
		crd := presentCRD(ctx)
		conversion, _, _ := unstructured.NestedMap(crd.Object, "spec", "conversion")
		properties := map[string]any{}
		for field, schema := range specs(crd)["v1alpha1"] {
			if field == "dependencies" || field == "requirements" {
				properties[field] = runtime.DeepCopyJSONValue(schema)
			}
		}
		edge, _, err := unstructured.NestedFieldNoCopy(properties, "dependencies", "items", "properties")
		if err != nil {
			return fmt.Errorf("the fields of an edge: %w", err)
		}
		for _, field := range []string{"when", "addOn", "prereleases"} {
			delete(edge.(map[string]any), field)
		}
		// The rules refer to fields that are missing.
		unstructured.RemoveNestedField(properties, "dependencies", "x-kubernetes-validations")
		unstructured.RemoveNestedField(properties, "dependencies", "items", "x-kubernetes-validations")
		older, err := crdgraft.Graft(crd.Object, crdgraft.Additions{Properties: properties, Conversion: conversion})
		if err != nil {
			return err
		}
		return admin.Update(ctx, &unstructured.Unstructured{Object: older}, client.FieldOwner("interlock-addon-manager"))
	}).Should(Succeed())
}
